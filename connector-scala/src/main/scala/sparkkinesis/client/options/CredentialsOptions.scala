package sparkkinesis.client.options

import sparkkinesis.client.options.OptionException._
import sparkkinesis.client.{CredentialsConfig, CredentialsSource, RoleConfig}

/**
 * The options for credentials: keys, a profile, a class of the user or the SDK's default; and a
 * role to assume.
 */
private[options] object CredentialsOptions {
  val Keys: Seq[String] = Seq("awsAccessKeyId", "awsSecretAccessKey", "awsSessionToken")

  private val Provider = "credentialsProvider"
  private val Secret = "credentialsProviderSecret"
  private val StsEndpoint = "stsEndpoint"

  private val OnlyWithRole = Seq("roleSessionName", "roleExternalId", StsEndpoint)

  val Trusted: Seq[String] = Seq(Provider, StsEndpoint)

  val Names: Seq[String] = Seq("profile", Provider, Secret, "roleArn") ++ Keys ++ OnlyWithRole

  private val DefaultSessionName = "spark-kinesis"

  /** @throws OptionException if an option is missing, invalid or in conflict with another */
  def parse(options: Options): CredentialsConfig = CredentialsConfig(source(options), role(options))

  private def source(options: Options): CredentialsSource = {
    val keys = Keys.filter(options.contains)
    val kinds = Seq("profile", Provider).filter(options.contains) ++ keys.headOption
    if (kinds.size > 1)
      throw conflicting(
        s"Both ${kinds.take(2).map(options.named).mkString(" and ")} are set. " +
          "Set one kind of credentials only."
      )
    options.requireBeside(Secret, Provider)
    options.text("profile").map(CredentialsSource.Profile).orElse(provider(options)).getOrElse {
      if (keys.nonEmpty) static(options, keys) else CredentialsSource.DefaultChain
    }
  }

  private def provider(options: Options): Option[CredentialsSource] =
    options.text(Provider).map { name =>
      if (!name.matches("[\\p{L}_$][\\p{L}\\p{N}_$]*(\\.[\\p{L}_$][\\p{L}\\p{N}_$]*)*"))
        throw options.invalid(
          Provider,
          "the name of a class such as com.example.VaultCredentials",
          "Write the package and the class, separated by dots."
        )
      CredentialsSource.Provider(name, options.text(Secret))
    }

  private def static(options: Options, keys: Seq[String]): CredentialsSource = {
    def required(name: String) = options.text(name).getOrElse {
      throw missing(
        s"Option '$name' is missing beside ${keys.map(options.named).mkString(", ")}. " +
          "Set both the ID and the secret of the access key."
      )
    }
    CredentialsSource.Static(
      required("awsAccessKeyId"),
      required("awsSecretAccessKey"),
      options.text("awsSessionToken")
    )
  }

  private def role(options: Options): Option[RoleConfig] = options.text("roleArn") match {
    case Some(arn) => Some(roleConfig(options, arn))
    case None =>
      OnlyWithRole.foreach(options.requireBeside(_, "roleArn"))
      None
  }

  private def roleConfig(options: Options, arn: String): RoleConfig = {
    if (!arn.matches("arn:aws[a-z-]*:iam::\\d{12}:role/\\S+"))
      throw options.invalid(
        "roleArn",
        "an ARN such as arn:aws:iam::123456789012:role/reader",
        "Copy it from the IAM console."
      )
    val session = options.text("roleSessionName").getOrElse(DefaultSessionName)
    if (!session.matches("[\\w+=,.@-]{2,64}"))
      throw options.invalid(
        "roleSessionName",
        "2 to 64 of a-z, A-Z, 0-9, _ + = , . @ -",
        "Correct the name."
      )
    val stsEndpoint = options.endpoint(StsEndpoint)
    RoleConfig(arn, session, options.text("roleExternalId"), stsEndpoint)
  }
}
