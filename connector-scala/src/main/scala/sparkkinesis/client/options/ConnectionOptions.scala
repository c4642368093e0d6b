package sparkkinesis.client.options

import sparkkinesis.client._
import sparkkinesis.client.access.{NetworkConfig, ProxyConfig, Timeouts}
import sparkkinesis.client.options.OptionException._
import sparkkinesis.model.{StreamArn, StreamName, StreamRef}

/** The options that source and sink share: streams, region, endpoint, credentials and network. */
object ConnectionOptions {

  val Endpoint = "endpoint"

  /**
   * The options that decide where calls go, which certificates they trust, and which class gives
   * the credentials: only who starts a query may set them.
   */
  val Trusted: Seq[String] = Endpoint +: (CredentialsOptions.Trusted ++ NetworkOptions.Trusted)

  /** The options for static keys, and the password of a proxy. */
  val Keys: Seq[String] = CredentialsOptions.Keys :+ NetworkOptions.Password

  /** The names of all these options, for [[Options.parse]]. */
  val Names: Seq[String] =
    Seq("streamName", "streamArn", "region", Endpoint) ++ CredentialsOptions.Names ++
      NetworkOptions.Names

  /**
   * The one stream that the options name.
   *
   * @param defaultRegion used only if neither `region`, the ARN nor the endpoint gives a region
   * @throws OptionException if an option is missing, invalid or in conflict with another
   */
  def stream(options: Options, defaultRegion: => Option[String]): StreamAccess =
    streams(options, defaultRegion) match {
      case Seq(one) => one
      case several =>
        throw options.invalid(
          nameOption(options),
          "one stream",
          s"Name one of the ${several.size} streams, and start a query for each."
        )
    }

  /** All streams that the options name, in their order, read as [[stream]] reads one. */
  def streams(options: Options, defaultRegion: => Option[String]): Seq[StreamAccess] = {
    val refs = options.texts(nameOption(options)).map(parseRef(options, _))
    refs.diff(refs.distinct).headOption.foreach { twice =>
      throw options.invalid(nameOption(options), "different streams", s"Name $twice only once.")
    }
    val credentials = CredentialsOptions.parse(options)
    val network = NetworkOptions.parse(options)
    val endpoint = options.endpoint(Endpoint)
    val endpointRegion = endpoint.flatMap(EndpointRegion.of)
    lazy val default = endpointRegion.orElse(defaultRegion)
    refs.map { ref =>
      val region = regionOf(options, ref, default)
      endpointRegion.filter(_ != region).foreach { other =>
        throw conflicting(
          s"Option ${options.named(Endpoint)} is an endpoint of $other, but stream $ref is in " +
            s"$region. Remove the option to use the endpoint of each region."
        )
      }
      StreamAccess(ref, ClientConfig(region, endpoint, credentials, network))
    }
  }

  /** Whether the options name a stream. Otherwise, rows may name one. */
  def nameStream(options: Options): Boolean =
    options.contains("streamName") || options.contains("streamArn")

  /**
   * The connection of streams that rows name.
   *
   * @param isByName whether rows contain names instead of ARNs, so that a region is required
   * @param defaultRegion used only if a region is required and no option gives it
   * @throws OptionException if an option is missing, invalid or in conflict with another
   */
  def defaults(
      options: Options,
      isByName: Boolean,
      defaultRegion: => Option[String]
  ): ConnectionDefaults = {
    val endpoint = options.endpoint(Endpoint)
    val known = regionOption(options).orElse(endpoint.flatMap(EndpointRegion.of))
    val region = if (isByName) known.orElse(defaultRegion) else known
    if (isByName && region.isEmpty) throw missingRegion("the streams that the rows name")
    val network = NetworkOptions.parse(options)
    ConnectionDefaults(region, endpoint, CredentialsOptions.parse(options), network)
  }

  /** The option, of the two, that names the streams. */
  private def nameOption(options: Options): String =
    (options.contains("streamName"), options.contains("streamArn")) match {
      case (true, true) =>
        throw conflicting(
          s"Both ${options.named("streamName")} and ${options.named("streamArn")} are set. " +
            "Set only one of them."
        )
      case (false, false) =>
        throw missing(
          "No stream is set. Set 'streamName', such as orders, or 'streamArn', such as " +
            "arn:aws:kinesis:eu-west-1:123456789012:stream/orders."
        )
      case (byName, _) => if (byName) "streamName" else "streamArn"
    }

  private def parseRef(options: Options, text: String): StreamRef =
    if (nameOption(options) == "streamName") byName(options, text) else byArn(options, text)

  private def byName(options: Options, name: String): StreamRef =
    StreamName.parse(name).map(StreamRef.ByName).getOrElse {
      val remedy =
        if (name.startsWith("arn:")) s"Set '$name' and all other streams in 'streamArn'."
        else s"Correct '$name'. Separate several streams by commas."
      throw options.invalid("streamName", "1 to 128 of a-z, A-Z, 0-9, _ . -", remedy)
    }

  private def byArn(options: Options, arn: String): StreamRef =
    StreamArn.parse(arn).map(StreamRef.ByArn).getOrElse {
      throw options.invalid(
        "streamArn",
        "an ARN such as arn:aws:kinesis:eu-west-1:123456789012:stream/orders",
        s"Correct '$arn': copy the ARN from the Kinesis console or 'aws kinesis list-streams'."
      )
    }

  private def regionOf(options: Options, ref: StreamRef, default: => Option[String]): String = {
    val set = regionOption(options)
    val ofArn = ref match {
      case StreamRef.ByArn(arn) => Some(arn.region)
      case StreamRef.ByName(_) => None
    }
    for (region <- set; other <- ofArn if region != other)
      throw conflicting(
        s"Option ${options.named("region")} is '$region', but stream $ref is in $other. " +
          "Remove the option."
      )
    set.orElse(ofArn).orElse(default).getOrElse(throw missingRegion(s"stream $ref"))
  }

  private def regionOption(options: Options): Option[String] = {
    val region = options.text("region")
    region.filterNot(_.matches("[a-z0-9-]{1,63}")).foreach { _ =>
      throw options.invalid("region", "a region such as eu-west-1", "Use its code, not its title.")
    }
    region
  }

  private def missingRegion(streams: String): OptionException = new OptionException(
    MissingRegion,
    s"The region of $streams is unknown. Set option 'region', such as eu-west-1, or AWS_REGION " +
      "in the environment, or a region in the AWS profile."
  )
}

/** The options for the way to AWS: proxy, certificates, kinds of endpoints, timeouts. */
private[options] object NetworkOptions {
  val Password = "proxyPassword"
  val Trusted: Seq[String] = Seq("proxy", "caBundle", Options.AllowUnencrypted)
  private val Fips = "useFipsEndpoint"
  private val DualStack = "useDualStackEndpoint"

  val Names: Seq[String] = Seq(
    "proxy",
    "proxyUsername",
    Password,
    "caBundle",
    Options.AllowUnencrypted,
    Fips,
    DualStack,
    "connectTimeout",
    "readTimeout",
    "callTimeout"
  )

  /** A call also waits for its credentials. */
  private val CallBeyondRead = Timeouts.Default.call - Timeouts.Default.attempt

  /** @throws OptionException if an option is missing, invalid or in conflict with another */
  def parse(options: Options): NetworkConfig = {
    options.boolean(Options.AllowUnencrypted): Unit // its value counts beside an endpoint
    NetworkConfig(
      proxy(options),
      options.text("caBundle"),
      kindOfEndpoint(options, Fips),
      kindOfEndpoint(options, DualStack),
      timeouts(options)
    )
  }

  private def proxy(options: Options): Option[ProxyConfig] = {
    Seq("proxyUsername", Password).foreach(options.requireBeside(_, "proxy"))
    options.requireBeside("proxyUsername", Password)
    options.requireBeside(Password, "proxyUsername")
    options.url("proxy", "http://proxy.example.com:3128").map { uri =>
      if (uri.getPort < 0 || Seq("", "/").forall(_ != uri.getPath) || uri.getQuery != null)
        throw options.invalid(
          "proxy",
          "a URL with scheme, host and port only, such as http://proxy.example.com:3128",
          "Correct the URL."
        )
      ProxyConfig(uri, options.text("proxyUsername"), options.text(Password))
    }
  }

  private def kindOfEndpoint(options: Options, name: String): Option[Boolean] = {
    val value = options.boolean(name)
    if (value.contains(true) && options.contains(ConnectionOptions.Endpoint))
      throw conflicting(
        s"Option ${options.named(name)} selects an endpoint of AWS, but " +
          s"${options.named(ConnectionOptions.Endpoint)} is set. Set only one of them."
      )
    value
  }

  private def timeouts(options: Options): Timeouts = {
    val read = options.duration("readTimeout").getOrElse(Timeouts.Default.attempt)
    val call = options.duration("callTimeout").getOrElse(read + CallBeyondRead)
    if (read > call)
      throw options.invalid(
        "callTimeout",
        s"at least ${read.toMillis}ms, as 'readTimeout' says",
        "A call contains the request. Remove one of the two options."
      )
    val connect = options.duration("connectTimeout").getOrElse(Timeouts.Default.connect)
    Timeouts(connect, read, call)
  }
}
