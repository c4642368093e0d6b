package sparkkinesis.client.options

import sparkkinesis.client._
import sparkkinesis.client.options.ConnectionTable._
import sparkkinesis.client.options.OptionException._
import sparkkinesis.model
import sparkkinesis.model.StreamRef

/** How the options that source and sink share name streams and their connections. */
private[sparkkinesis] object ConnectionOptions {

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
    val refs = options.get(nameOption(options)).toSeq.flatten.map(parseRef(options, _))
    refs.diff(refs.distinct).headOption.foreach { twice =>
      throw options.invalid(nameOption(options), "different streams", s"Name $twice only once.")
    }
    val credentials = CredentialsOptions.parse(options)
    val network = NetworkOptions.parse(options)
    val endpoint = NetworkOptions.encrypted(options, Endpoint)
    val endpointRegion = endpoint.flatMap(EndpointRegion.of)
    lazy val default = endpointRegion.orElse(defaultRegion)
    refs.map { ref =>
      val region = regionOf(options, ref, default)
      endpointRegion.filter(_ != region).foreach { other =>
        throw conflicting(
          s"Option 'endpoint' is an endpoint of $other, but stream $ref is in " +
            s"$region. Remove the option to use the endpoint of each region."
        )
      }
      StreamAccess(ref, ClientConfig(region, endpoint, credentials, network))
    }
  }

  /** Whether the options name a stream. Otherwise, rows may name one. */
  def nameStream(options: Options): Boolean =
    options.contains(StreamName) || options.contains(StreamArn)

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
    val endpoint = NetworkOptions.encrypted(options, Endpoint)
    val known = options.get(Region).orElse(endpoint.flatMap(EndpointRegion.of))
    val region = if (isByName) known.orElse(defaultRegion) else known
    if (isByName && region.isEmpty) throw missingRegion("the streams that the rows name")
    val network = NetworkOptions.parse(options)
    ConnectionDefaults(region, endpoint, CredentialsOptions.parse(options), network)
  }

  /** The option, of the two, that names the streams. */
  private def nameOption(options: Options): OptionSpec[Seq[String]] =
    (options.contains(StreamName), options.contains(StreamArn)) match {
      case (true, true) =>
        throw conflicting("Both 'streamName' and 'streamArn' are set. Set only one of them.")
      case (false, false) =>
        throw missing(
          "No stream is set. Set 'streamName', such as orders, or 'streamArn', such as " +
            "arn:aws:kinesis:eu-west-1:123456789012:stream/orders."
        )
      case (byName, _) => if (byName) StreamName else StreamArn
    }

  private def parseRef(options: Options, text: String): StreamRef =
    if (nameOption(options) == StreamName) byName(options, text) else byArn(options, text)

  private def byName(options: Options, name: String): StreamRef =
    model.StreamName.parse(name).map(StreamRef.ByName).getOrElse {
      val remedy =
        if (name.startsWith("arn:")) s"Set '$name' and all other streams in 'streamArn'."
        else s"Correct '$name'. Separate several streams by commas."
      throw options.invalid(StreamName, "1 to 128 of a-z, A-Z, 0-9, _ . -", remedy)
    }

  private def byArn(options: Options, arn: String): StreamRef =
    model.StreamArn.parse(arn).map(StreamRef.ByArn).getOrElse {
      throw options.invalid(
        StreamArn,
        "an ARN such as arn:aws:kinesis:eu-west-1:123456789012:stream/orders",
        s"Correct '$arn': copy the ARN from the Kinesis console or 'aws kinesis list-streams'."
      )
    }

  private def regionOf(options: Options, ref: StreamRef, default: => Option[String]): String = {
    val set = options.get(Region)
    val ofArn = ref match {
      case StreamRef.ByArn(arn) => Some(arn.region)
      case StreamRef.ByName(_) => None
    }
    for (region <- set; other <- ofArn if region != other)
      throw conflicting(
        s"Option 'region' is '$region', but stream $ref is in $other. " +
          "Remove the option."
      )
    set.orElse(ofArn).orElse(default).getOrElse(throw missingRegion(s"stream $ref"))
  }

  private def missingRegion(streams: String): OptionException = new OptionException(
    MissingRegion,
    s"The region of $streams is unknown. Set option 'region', such as eu-west-1, or AWS_REGION " +
      "in the environment, or a region in the AWS profile."
  )
}
