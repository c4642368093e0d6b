package sparkkinesis.client.aws.http

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator

/**
 * Prevents libraries from logging secrets. At DEBUG they log requests, whose headers contain the
 * session token, and responses of STS, which contain the secret key.
 */
private[aws] object SecretLogs {

  /** String constants, which the bundle's relocation renames together with the classes. */
  private val Loggers = Seq(
    "org.apache.hc.client5.http.headers",
    "org.apache.hc.client5.http.wire",
    "software.amazon.awssdk.http.auth.aws.internal.signer"
  )

  /** Sets their level to INFO, whatever the level of the root logger, if Log4j is present. */
  def silence(): Unit =
    try Loggers.foreach(name => Configurator.setLevel(name, Level.INFO))
    catch { case _: NoClassDefFoundError => () } // another logging library is in use
}
