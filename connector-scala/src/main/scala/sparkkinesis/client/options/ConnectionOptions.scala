package sparkkinesis.client.options

import java.net.URI

import scala.util.Try

import sparkkinesis.client._
import sparkkinesis.client.options.OptionException._
import sparkkinesis.model.{StreamArn, StreamName, StreamRef}

/** The options that source and sink share: which streams, where, and who asks. */
object ConnectionOptions {

  /** Static keys: a long-lived secret, for tests and trials. */
  val Keys: Seq[String] = Seq("awsAccessKeyId", "awsSecretAccessKey", "awsSessionToken")
  private val OfRole = Seq("roleSessionName", "roleExternalId", "stsEndpoint")

  /** All of them, for [[Options.parse]]. */
  val Names: Seq[String] =
    Seq("streamName", "streamArn", "region", "endpoint", "profile", "roleArn") ++ Keys ++ OfRole

  private val DefaultSessionName = "spark-kinesis"

  /**
   * The one stream that the options name.
   *
   * @param defaultRegion asked only where neither `region` nor ARN nor endpoint tells
   * @throws OptionException where something is missing, wrong or contradictory
   */
  def stream(options: Options, defaultRegion: => Option[String]): StreamAccess =
    streams(options, defaultRegion) match {
      case Seq(one) => one
      case several =>
        throw options.invalid(
          named(options),
          "one stream",
          s"Name one of the ${several.size}, and start a query for each."
        )
    }

  /** All streams that the options name, in the order they are named; like [[stream]]. */
  def streams(options: Options, defaultRegion: => Option[String]): Seq[StreamAccess] = {
    val refs = options.texts(named(options)).map(ref(options, _))
    refs.diff(refs.distinct).headOption.foreach { twice =>
      throw options.invalid(named(options), "different streams", s"Name $twice once.")
    }
    val credentials = CredentialsConfig(source(options), role(options))
    val at = endpoint(options, "endpoint")
    lazy val default = at.flatMap(EndpointRegion.of).orElse(defaultRegion)
    refs.map { ref =>
      val its = region(options, ref, default)
      at.flatMap(EndpointRegion.of).filter(_ != its).foreach { other =>
        throw conflicting(
          s"${options.named("endpoint").capitalize} is one of $other, but stream $ref lies in $its. " +
            "Leave the endpoint out: each region's own is used."
        )
      }
      StreamAccess(ref, ClientConfig(its, at, credentials))
    }
  }

  /** Whether the options name a stream at all: rows may do so in their place. */
  def nameStream(options: Options): Boolean =
    options.contains("streamName") || options.contains("streamArn")

  /**
   * How streams are reached that rows name.
   *
   * @param fixed the one that the options name beside: its region is then theirs
   * @param isByName whether rows say names, and a region must be known
   * @param defaultRegion asked only where names are said and nothing else tells
   * @throws OptionException where something is missing, wrong or contradictory
   */
  def reach(
      options: Options,
      fixed: Option[StreamAccess],
      isByName: Boolean,
      defaultRegion: => Option[String]
  ): StreamReach = {
    val at = endpoint(options, "endpoint")
    val told = namedRegion(options)
      .orElse(fixed.map(_.client.region))
      .orElse(at.flatMap(EndpointRegion.of))
    val region = if (isByName) told.orElse(defaultRegion) else told
    if (isByName && region.isEmpty) throw missingRegion("are the streams that the rows name")
    StreamReach(region, at, CredentialsConfig(source(options), role(options)))
  }

  /** Which of the two options names the streams. */
  private def named(options: Options): String =
    (options.contains("streamName"), options.contains("streamArn")) match {
      case (true, true) =>
        throw conflicting(
          s"Both ${options.named("streamName")} and ${options.named("streamArn")} are given. " +
            "Say which streams by one of them."
        )
      case (false, false) =>
        throw missing(
          "Which stream? Give 'streamName', such as orders, or 'streamArn', " +
            "such as arn:aws:kinesis:eu-west-1:123456789012:stream/orders."
        )
      case (byName, _) => if (byName) "streamName" else "streamArn"
    }

  private def ref(options: Options, text: String): StreamRef =
    if (named(options) == "streamName") byName(options, text) else byArn(options, text)

  private def byName(options: Options, name: String): StreamRef =
    StreamName.parse(name).map(StreamRef.ByName).getOrElse {
      val remedy =
        if (name.startsWith("arn:")) s"Give '$name', and every other stream, by 'streamArn'."
        else s"Mend '$name'; a comma stands between several streams."
      throw options.invalid("streamName", "1 to 128 of a-z, A-Z, 0-9, _ . -", remedy)
    }

  private def byArn(options: Options, arn: String): StreamRef =
    StreamArn.parse(arn).map(StreamRef.ByArn).getOrElse {
      throw options.invalid(
        "streamArn",
        "the like of arn:aws:kinesis:eu-west-1:123456789012:stream/orders",
        s"Mend '$arn': copy it from the Kinesis console or from 'aws kinesis list-streams'."
      )
    }

  private def region(options: Options, ref: StreamRef, default: => Option[String]): String = {
    val named = namedRegion(options)
    val ofArn = ref match {
      case StreamRef.ByArn(arn) => Some(arn.region)
      case StreamRef.ByName(_) => None
    }
    for (mine <- named; its <- ofArn if mine != its)
      throw conflicting(
        s"Option ${options.named("region")} is '$mine', but stream $ref lies in $its. " +
          "Leave it out."
      )
    named.orElse(ofArn).orElse(default).getOrElse(throw missingRegion(s"is stream $ref"))
  }

  private def namedRegion(options: Options): Option[String] = {
    val named = options.text("region")
    named.filterNot(_.matches("[a-z0-9-]{1,63}")).foreach { _ =>
      throw options.invalid("region", "a region such as eu-west-1", "Use its code, not its title.")
    }
    named
  }

  private def missingRegion(of: String): OptionException = new OptionException(
    MissingRegion,
    s"In which region $of? Set option 'region', such as eu-west-1, or AWS_REGION " +
      "in the environment, or a region in the AWS profile."
  )

  private def endpoint(options: Options, name: String): Option[URI] =
    options.text(name).map { text =>
      val uri = Try(new URI(text)).toOption
      if (text.contains('@')) throw credentialsInside(options.named(name))
      uri.filter(isWeb).getOrElse {
        throw options.invalid(
          name,
          "a URL with http or https and a host, such as http://127.0.0.1:4567",
          "Leave it out to use the region's own endpoint."
        )
      }
    }

  private def isWeb(uri: URI): Boolean =
    Set("http", "https")(Option(uri.getScheme).fold("")(Options.lower)) && uri.getHost != null

  /** @param name in quotes */
  private def credentialsInside(name: String): OptionException = new OptionException(
    InvalidOption,
    s"Option $name holds an '@': expected a URL without user and password. " +
      "Give credentials by their own options."
  )

  private def source(options: Options): CredentialsSource = {
    val keys = Keys.filter(options.contains)
    options.text("profile") match {
      case Some(_) if keys.nonEmpty =>
        throw conflicting(
          s"Both ${options.named("profile")} and " +
            s"${keys.map(options.named).mkString(", ")} are given. " +
            "Choose one kind of credentials."
        )
      case Some(name) => CredentialsSource.Profile(name)
      case None if keys.nonEmpty => static(options)
      case None => CredentialsSource.DefaultChain
    }
  }

  private def static(options: Options): CredentialsSource = {
    def needed(name: String) = options.text(name).getOrElse {
      throw missing(
        s"Option '$name' is missing beside " +
          s"${Keys.filter(options.contains).map(options.named).mkString(", ")}. " +
          "A key has an id and a secret: give both."
      )
    }
    CredentialsSource.Static(
      needed("awsAccessKeyId"),
      needed("awsSecretAccessKey"),
      options.text("awsSessionToken")
    )
  }

  private def role(options: Options): Option[RoleConfig] = options.text("roleArn") match {
    case Some(arn) => Some(assumed(options, arn))
    case None =>
      OfRole.find(options.contains).foreach { name =>
        throw missing(
          s"Option ${options.named(name)} is given without 'roleArn'. " +
            "Name the role, or leave it out."
        )
      }
      None
  }

  private def assumed(options: Options, arn: String): RoleConfig = {
    if (!arn.matches("arn:aws[a-z-]*:iam::\\d{12}:role/\\S+"))
      throw options.invalid(
        "roleArn",
        "the like of arn:aws:iam::123456789012:role/reader",
        "Copy it from the IAM console."
      )
    val session = options.text("roleSessionName").getOrElse(DefaultSessionName)
    if (!session.matches("[\\w+=,.@-]{2,64}"))
      throw options.invalid(
        "roleSessionName",
        "2 to 64 of a-z, A-Z, 0-9, _ + = , . @ -",
        "Mend it."
      )
    RoleConfig(arn, session, options.text("roleExternalId"), endpoint(options, "stsEndpoint"))
  }
}
