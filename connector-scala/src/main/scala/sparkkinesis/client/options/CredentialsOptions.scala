package sparkkinesis.client.options

import sparkkinesis.client.options.ConnectionTable._
import sparkkinesis.client.options.OptionException._
import sparkkinesis.client.{CredentialsConfig, CredentialsSource, RoleConfig}

/**
 * The options for credentials: keys, a profile, a class of the user or the SDK's default; and a
 * role to assume.
 */
private[options] object CredentialsOptions {

  /** @throws OptionException if an option is missing, invalid or in conflict with another */
  def parse(options: Options): CredentialsConfig = CredentialsConfig(source(options), role(options))

  private def source(options: Options): CredentialsSource = {
    val keys = Seq(AwsAccessKeyId, AwsSecretAccessKey, AwsSessionToken).filter(options.contains)
    val kinds = Seq(Profile, CredentialsProvider).filter(options.contains) ++ keys.headOption
    if (kinds.size > 1)
      throw conflicting(
        s"Both ${kinds.take(2).map(it => s"'${it.name}'").mkString(" and ")} are set. " +
          "Set one kind of credentials only."
      )
    options.get(Profile).map(CredentialsSource.Profile).orElse(provider(options)).getOrElse {
      if (keys.nonEmpty) static(options, keys) else CredentialsSource.DefaultChain
    }
  }

  private def provider(options: Options): Option[CredentialsSource] =
    options.get(CredentialsProvider).map {
      CredentialsSource.Provider(_, options.get(CredentialsProviderSecret))
    }

  private def static(options: Options, keys: Seq[OptionSpec[String]]): CredentialsSource = {
    def required(key: OptionSpec[String]) = options.get(key).getOrElse {
      val others = keys.map(it => s"'${it.name}'").mkString(", ")
      throw missing(
        s"Option '${key.name}' is missing beside $others. " +
          "Set both the ID and the secret of the access key."
      )
    }
    CredentialsSource.Static(
      required(AwsAccessKeyId),
      required(AwsSecretAccessKey),
      options.get(AwsSessionToken)
    )
  }

  private def role(options: Options): Option[RoleConfig] = options.get(RoleArn).map { arn =>
    val stsEndpoint = NetworkOptions.encrypted(options, StsEndpoint)
    RoleConfig(arn, options(RoleSessionName), options.get(RoleExternalId), stsEndpoint)
  }
}
