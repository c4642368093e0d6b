package sparkkinesis.client.aws

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator

/**
 * Keeps the libraries below us from writing secrets down. At DEBUG they log what they send, and a
 * session token is a header of it; what they receive from STS holds a secret key.
 */
private[aws] object SecretLogs {

  /** String constants, so that the bundle's relocation renames them with the classes. */
  private val Loggers = Seq(
    "org.apache.hc.client5.http.headers",
    "org.apache.hc.client5.http.wire",
    "software.amazon.awssdk.http.auth.aws.internal.signer"
  )

  /** Silences them below INFO, whatever the root logger's level, where Spark's own Log4j is used. */
  def silence(): Unit =
    try Loggers.foreach(name => Configurator.setLevel(name, Level.INFO))
    catch { case _: NoClassDefFoundError => () } // another logging library, which we cannot know
}
