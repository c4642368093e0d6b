package sparkkinesis.client.options

import sparkkinesis.client.access.Timeouts
import sparkkinesis.client.options.OptionType._

/** The options that source and sink share: streams, region, endpoint, credentials and network. */
private[sparkkinesis] object ConnectionTable extends OptionTable {

  val StreamName = optional("streamName", texts)(
    """Name of the stream, or names of several streams for a source."""
  )

  val StreamArn = optional("streamArn", texts)(
    """ARN of the stream instead of `streamName`, or ARNs of several streams for a source, also
      in different regions and accounts."""
  )

  val Region = optional(
    "region",
    matching(
      "[a-z0-9-]{1,63}",
      "a region such as eu-west-1",
      "Use its code, not its title."
    )
  )(
    """AWS region of the stream, such as `eu-west-1`.""",
    unset = """The region in `streamArn` or in the host name of an AWS `endpoint`. If neither
      contains a region: the AWS SDK's provider chain."""
  )

  val Endpoint = optional("endpoint", url("http://127.0.0.1:4567"))(
    """URL of the Kinesis service, which must begin with `https` unless it is on this machine.""",
    unset = """The endpoint that the AWS SDK finds in `AWS_ENDPOINT_URL_KINESIS` or
      `AWS_ENDPOINT_URL`, a system property, or the profile. Otherwise: the endpoint of the
      region."""
  )

  val AwsAccessKeyId = optional("awsAccessKeyId", secret)(
    """Access key ID, together with `awsSecretAccessKey`.""",
    unset = "The AWS SDK's provider chain."
  )

  val AwsSecretAccessKey = optional("awsSecretAccessKey", secret)(
    """Secret access key, together with `awsAccessKeyId`.""",
    unset = "The AWS SDK's provider chain."
  )

  val AwsSessionToken = optional("awsSessionToken", secret)(
    """Session token of temporary credentials, together with both keys.""",
    unset = "No session token."
  )

  val Profile = optional("profile", text)(
    """Name of a profile in the AWS configuration files of the driver and of every executor.""",
    unset = "The AWS SDK's provider chain."
  )

  val CredentialsProvider = optional(
    "credentialsProvider",
    matching(
      "[\\p{L}_$][\\p{L}\\p{N}_$]*(\\.[\\p{L}_$][\\p{L}\\p{N}_$]*)*",
      "the name of a class such as com.example.VaultCredentials",
      "Write the package and the class, separated by dots."
    )
  )(
    """Name of [a class of your own](../how-to/access.md#credentials-from-a-class-of-your-own)
      that gives the connector credentials, on the driver and on every executor.""",
    unset = "The AWS SDK's provider chain."
  )

  val CredentialsProviderSecret =
    optional("credentialsProviderSecret", secret, needs = Seq("credentialsProvider"))(
      """Text for the constructor or the method `create` of the class in `credentialsProvider`,
        masked like a key.""",
      unset = "The connector passes nothing."
    )

  val RoleArn = optional(
    "roleArn",
    matching(
      "arn:aws[a-z-]*:iam::\\d{12}:role/\\S+",
      "an ARN such as arn:aws:iam::123456789012:role/reader",
      "Copy it from the IAM console."
    )
  )(
    """ARN of an IAM role that the connector assumes with the credentials above, and whose
      credentials it renews before they expire.""",
    unset = "No role is assumed."
  )

  val RoleSessionName = option(
    "roleSessionName",
    matching(
      "[\\w+=,.@-]{2,64}",
      "2 to 64 of a-z, A-Z, 0-9, _ + = , . @ -",
      "Correct the name."
    ),
    "spark-kinesis",
    needs = Seq("roleArn")
  )(
    """Name of the role session."""
  )

  val RoleExternalId = optional("roleExternalId", secret, needs = Seq("roleArn"))(
    """External ID that the role's trust policy requires.""",
    unset = "No external ID."
  )

  val StsEndpoint = optional("stsEndpoint", url("http://127.0.0.1:4567"), needs = Seq("roleArn"))(
    """URL of AWS STS, which must begin with `https` unless it is on this machine.""",
    unset = "The STS endpoint of the region."
  )

  val Proxy = optional("proxy", url("http://proxy.example.com:3128"))(
    """URL of [an HTTP proxy](../how-to/access.md#use-a-proxy), such as
      `http://proxy.example.com:3128`.""",
    unset = "The proxy of the JVM or of the environment."
  )

  val ProxyUsername = optional("proxyUsername", text, needs = Seq("proxy"))(
    """User name for the proxy, together with `proxyPassword`.""",
    unset = "The connector does not authenticate."
  )

  val ProxyPassword = optional("proxyPassword", secret, needs = Seq("proxy"))(
    """Password for the proxy, together with `proxyUsername`.""",
    unset = "The connector does not authenticate."
  )

  val CaBundle = optional("caBundle", text)(
    """Path of a PEM file with [the only certificates to
      trust](../how-to/access.md#trust-another-certificate-authority), on the driver and on every
      executor.""",
    unset = "The file in `AWS_CA_BUNDLE`. Otherwise: the trust store of the JVM."
  )

  val AllowUnencryptedEndpoint = option("allowUnencryptedEndpoint", boolean, false)(
    """Whether `endpoint` and `stsEndpoint` may begin with `http://` on another machine. Records,
      session tokens and the keys of a role then cross the network in clear text. Only for servers
      of tests."""
  )

  val UseFipsEndpoint = optional("useFipsEndpoint", boolean)(
    """Whether to call endpoints whose cryptography is validated by FIPS 140. Not allowed with
      `endpoint`.""",
    unset = "The AWS SDK's settings, such as `AWS_USE_FIPS_ENDPOINT`. Otherwise: `false`."
  )

  val UseDualStackEndpoint = optional("useDualStackEndpoint", boolean)(
    """Whether to call endpoints that have IPv4 and IPv6 addresses. Not allowed with
      `endpoint`.""",
    unset = "The AWS SDK's settings, such as `AWS_USE_DUALSTACK_ENDPOINT`. Otherwise: `false`."
  )

  val ConnectTimeout = option("connectTimeout", duration(), Timeouts.Default.connect)(
    """Maximum time to open a connection."""
  )

  val ReadTimeout = option("readTimeout", duration(), Timeouts.Default.attempt)(
    """Maximum time from a request to the end of its response, but not of a subscription of
      enhanced fan-out."""
  )

  val CallTimeout = optional("callTimeout", duration())(
    """Maximum time of a call with its credentials and its connection, at least `readTimeout`,
      and at most `40s` with `deliveryGuarantee=exactlyOnce`.""",
    unset = "`readTimeout` plus `10s`."
  )

  /**
   * The options that decide where calls go, which certificates they trust, and which class gives
   * the credentials: only who starts a query may set them.
   */
  val Trusted: Seq[OptionSpec[_]] =
    Seq(Endpoint, CredentialsProvider, StsEndpoint, Proxy, CaBundle, AllowUnencryptedEndpoint)

  /** The options for static keys, and the password of a proxy. */
  val Keys: Seq[OptionSpec[_]] =
    Seq(AwsAccessKeyId, AwsSecretAccessKey, AwsSessionToken, ProxyPassword)

  /** Whether the value of an option is never printed, under any connector's name for it. */
  def isSecret(name: String): Boolean = meaning(name, all).exists(_.isSecret)

  /** Which of the options a name means, here or in another connector. */
  def meaning(name: String, options: Seq[OptionSpec[_]]): Option[OptionSpec[_]] =
    OptionSpec
      .find(name, options)
      .orElse(ForeignOptions.find(name).flatMap(_.ours).flatMap(OptionSpec.find(_, options)))
}
