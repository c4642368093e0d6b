package sparkkinesis.client.aws.http

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator

/**
 * Prevents libraries from logging secrets. At DEBUG they log requests, whose headers contain the
 * session token, and responses of STS, which contain the secret key. Enhanced fan-out uses Netty,
 * which logs frames of HTTP/2 with their headers.
 */
private[aws] object SecretLogs {

  /** String constants, which the bundle's relocation renames together with the classes. */
  private val Loggers = Seq(
    "org.apache.hc.client5.http.headers",
    "org.apache.hc.client5.http.wire",
    "software.amazon.awssdk.http.auth.aws.internal.signer",
    "io.netty.handler.codec.http2.Http2FrameLogger",
    "io.netty.handler.logging.LoggingHandler"
  )

  /** Sets their level to INFO, whatever the level of the root logger, if Log4j is present. */
  def silence(): Unit =
    try Loggers.foreach(name => Configurator.setLevel(name, Level.INFO))
    catch { // another logging library is in use, perhaps beside Log4j
      case _: NoClassDefFoundError | _: ClassCastException => ()
    }
}
