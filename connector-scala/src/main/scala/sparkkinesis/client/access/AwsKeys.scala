package sparkkinesis.client.access

import java.time.Instant

/**
 * Credentials of AWS, as a [[CredentialsProvider]] returns them. Their text hides them.
 *
 * @param sessionToken token of temporary credentials, or null
 * @param expiration time at which the credentials expire, or null. The connector asks the provider
 *   again at most 5 minutes earlier. If this is null, the connector asks once per minute.
 */
final class AwsKeys(
    val accessKeyId: String,
    val secretAccessKey: String,
    val sessionToken: String,
    val expiration: Instant
) {

  /** Credentials that do not expire. */
  def this(accessKeyId: String, secretAccessKey: String) =
    this(accessKeyId, secretAccessKey, null, null)

  override def toString: String = s"AwsKeys(***, expiration=$expiration)"
}
