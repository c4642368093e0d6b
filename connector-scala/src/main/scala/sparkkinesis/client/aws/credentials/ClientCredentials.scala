package sparkkinesis.client.aws.credentials

import scala.jdk.DurationConverters._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory
import software.amazon.awssdk.auth.credentials._
import software.amazon.awssdk.core.exception.{AbortedException, SdkClientException, SdkException}
import software.amazon.awssdk.services.sts.auth.StsAssumeRoleCredentialsProvider
import software.amazon.awssdk.services.sts.model.AssumeRoleRequest
import software.amazon.awssdk.services.sts.{StsClient, StsClientBuilder}
import software.amazon.awssdk.utils.SdkAutoCloseable

import sparkkinesis.client.access.{NetworkConfig, Timeouts}
import sparkkinesis.client.aws.http.{Reason, SdkSettings}
import sparkkinesis.client.{ClientConfig, CredentialsSource, RoleConfig, SystemClock}

/**
 * The credentials of one client.
 *
 * @param provider gives the credentials of each call; renews an assumed role before it expires
 * @param owned resources to close with the client
 */
private[aws] final class ClientCredentials(
    val provider: AwsCredentialsProvider,
    owned: Seq[AutoCloseable]
) extends AutoCloseable {
  override def close(): Unit = owned.foreach { resource =>
    try resource.close() // a user's class may fail, and the others must end all the same
    catch { case NonFatal(e) => ClientCredentials.log.warn(s"$resource could not be closed.", e) }
  }
}

private[aws] object ClientCredentials {
  private val log = LoggerFactory.getLogger(classOf[ClientCredentials])

  def open(config: ClientConfig): ClientCredentials = {
    val first = source(config.credentials.source)
    config.credentials.role match {
      case None => new ClientCredentials(new MarkingProvider(first), closeable(first))
      case Some(role) =>
        val sts = stsClient(config.region, role, first, config.network)
        val assumed = roleProvider(role, sts, config.network.timeouts)
        val owned = Seq(assumed, sts) ++ closeable(first)
        val what = s"STS returned no credentials for role ${role.arn}: "
        new ClientCredentials(new MarkingProvider(assumed, what), owned)
    }
  }

  def source(source: CredentialsSource): AwsCredentialsProvider = source match {
    case CredentialsSource.DefaultChain => DefaultCredentialsProvider.builder().build()
    case CredentialsSource.Profile(name) => ProfileCredentialsProvider.create(name)
    case provider: CredentialsSource.Provider => ProviderClass.open(provider)
    case CredentialsSource.Static(id, key, None) =>
      StaticCredentialsProvider.create(AwsBasicCredentials.create(id, key))
    case CredentialsSource.Static(id, key, Some(token)) =>
      StaticCredentialsProvider.create(AwsSessionCredentials.create(id, key, token))
  }

  def roleRequest(role: RoleConfig): AssumeRoleRequest = {
    val request =
      AssumeRoleRequest.builder().roleArn(role.arn).roleSessionName(role.sessionName)
    role.externalId.foreach(id => request.externalId(id))
    request.build()
  }

  /**
   * Renews the credentials in the thread of a call: the SDK's background threads outlive a client.
   */
  private def roleProvider(role: RoleConfig, sts: StsClient, timeouts: Timeouts) =
    StsAssumeRoleCredentialsProvider
      .builder()
      .stsClient(new PausingStsClient(sts, timeouts.discardBeforeExpiry, SystemClock))
      .refreshRequest(roleRequest(role))
      .prefetchTime(timeouts.renewBeforeExpiry.toJava)
      .staleTime(timeouts.discardBeforeExpiry.toJava)
      .build()

  private def stsClient(
      region: String,
      role: RoleConfig,
      first: AwsCredentialsProvider,
      network: NetworkConfig
  ): StsClient = {
    val builder = SdkSettings[StsClientBuilder, StsClient](
      StsClient.builder(),
      region,
      role.stsEndpoint,
      network.copy(timeouts = network.timeouts.ofRole)
    )
    builder.credentialsProvider(new MarkingProvider(first)).build()
  }

  private def closeable(provider: AwsCredentialsProvider): Seq[AutoCloseable] = provider match {
    case open: SdkAutoCloseable => Seq(open)
    case _ => Nil
  }

  /**
   * Turns each failure into [[Unavailable]]: the SDK's exceptions do not show where they began.
   *
   * @param what the beginning of the message
   */
  final class MarkingProvider(val inner: AwsCredentialsProvider, what: String = "")
      extends AwsCredentialsProvider {
    override def resolveCredentials(): AwsCredentials =
      try inner.resolveCredentials()
      catch { case e: SdkException => throw unavailable(e, what, isOfChain) }

    private def isOfChain = inner.isInstanceOf[DefaultCredentialsProvider]

    override def toString: String = s"MarkingProvider(${inner.getClass.getSimpleName})"
  }

  private def unavailable(e: Throwable, what: String, isOfChain: Boolean): Throwable = e match {
    case known: Unavailable => known
    case interrupted: AbortedException => interrupted
    case other => new Unavailable(other, what, isOfChain)
  }

  /**
   * The exception if there are no credentials. The cause gives the reason.
   *
   * @param what the beginning of the message
   * @param isOfChain whether the default chain found none. Then the cause does not show whether a
   *   service, for example that of the instance, has failed
   */
  final class Unavailable(reason: Throwable, what: String = "", val isOfChain: Boolean = false)
      extends SdkClientException(
        SdkClientException.builder().message(what + Reason.of(reason)).cause(reason)
      )
}
