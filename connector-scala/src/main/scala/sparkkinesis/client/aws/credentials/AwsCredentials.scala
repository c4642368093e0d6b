package sparkkinesis.client.aws.credentials

import software.amazon.awssdk.auth.credentials.{AwsCredentials => SdkCredentials, _}
import software.amazon.awssdk.core.exception.{AbortedException, SdkClientException, SdkException}
import software.amazon.awssdk.services.sts.model.AssumeRoleRequest
import software.amazon.awssdk.services.sts.{StsClient, StsClientBuilder}
import software.amazon.awssdk.utils.SdkAutoCloseable

import sparkkinesis.client.aws.{AwsClientFactory, Timeouts}
import sparkkinesis.client.{ClientConfig, CredentialsSource, RoleConfig, SystemClock}

/**
 * Where a client's credentials come from, and what must be closed with it.
 *
 * @param provider resolves on each call; an assumed role is renewed minutes before it expires
 */
private[aws] final class AwsCredentials(
    val provider: AwsCredentialsProvider,
    owned: Seq[AutoCloseable]
) extends AutoCloseable {
  override def close(): Unit = owned.foreach(_.close())
}

private[aws] object AwsCredentials {
  def open(config: ClientConfig, timeouts: Timeouts): AwsCredentials = {
    val first = source(config.credentials.source)
    config.credentials.role match {
      case None => new AwsCredentials(new Guarded(first), closeable(first))
      case Some(role) =>
        val sts = stsClient(config.region, role, first, timeouts)
        val assumed = new RoleCredentials(role.arn, () => assume(role, sts), SystemClock)
        new AwsCredentials(new Guarded(assumed), sts +: closeable(first))
    }
  }

  def source(source: CredentialsSource): AwsCredentialsProvider = source match {
    case CredentialsSource.DefaultChain => DefaultCredentialsProvider.builder().build()
    case CredentialsSource.Profile(name) => ProfileCredentialsProvider.create(name)
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

  private def assume(role: RoleConfig, sts: StsClient): AwsSessionCredentials = {
    val got = sts.assumeRole(roleRequest(role)).credentials
    AwsSessionCredentials
      .builder()
      .accessKeyId(got.accessKeyId)
      .secretAccessKey(got.secretAccessKey)
      .sessionToken(got.sessionToken)
      .expirationTime(got.expiration)
      .build()
  }

  private def stsClient(
      region: String,
      role: RoleConfig,
      first: AwsCredentialsProvider,
      timeouts: Timeouts
  ): StsClient = {
    val builder =
      AwsClientFactory.configure[StsClientBuilder, StsClient](
        StsClient.builder(),
        region,
        timeouts.ofRole
      )
    role.stsEndpoint.foreach(uri => builder.endpointOverride(uri))
    builder.credentialsProvider(new Guarded(first)).build()
  }

  private def closeable(provider: AwsCredentialsProvider): Seq[AutoCloseable] = provider match {
    case open: SdkAutoCloseable => Seq(open)
    case _ => Nil
  }

  /** Marks what fails here as a failure of the credentials: the SDK's exceptions do not tell. */
  final class Guarded(val inner: AwsCredentialsProvider) extends AwsCredentialsProvider {
    override def resolveCredentials(): SdkCredentials =
      try inner.resolveCredentials()
      catch { case e: SdkException => throw unavailable(e) }

    override def toString: String = s"Guarded(${inner.getClass.getSimpleName})"
  }

  private def unavailable(e: Throwable): Throwable = e match {
    case known: Unavailable => known
    case interrupted: AbortedException => interrupted
    case other => new Unavailable(other)
  }

  /** No credentials, for the reason that is its cause. */
  final class Unavailable(reason: Throwable)
      extends SdkClientException(
        SdkClientException.builder().message(reason.getMessage).cause(reason)
      )
}
