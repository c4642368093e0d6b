package sparkkinesis.client.options

import sparkkinesis.client.access.{NetworkConfig, ProxyConfig, Timeouts}
import sparkkinesis.client.options.OptionException._

/** The options for the way to AWS: proxy, certificates, kinds of endpoints, timeouts. */
private[options] object NetworkOptions {
  val Password = "proxyPassword"
  private val Fips = "useFipsEndpoint"
  private val DualStack = "useDualStackEndpoint"

  val Names: Seq[String] = Seq(
    "proxy",
    "proxyUsername",
    Password,
    "caBundle",
    Fips,
    DualStack,
    "connectTimeout",
    "readTimeout",
    "callTimeout"
  )

  /** A call also waits for its credentials. */
  private val CallBeyondRead = Timeouts.Default.call - Timeouts.Default.attempt

  /** @throws OptionException if an option is missing, invalid or in conflict with another */
  def parse(options: Options): NetworkConfig = NetworkConfig(
    proxy(options),
    options.text("caBundle"),
    kindOfEndpoint(options, Fips),
    kindOfEndpoint(options, DualStack),
    timeouts(options)
  )

  private def proxy(options: Options): Option[ProxyConfig] = {
    Seq("proxyUsername", Password).foreach(options.requireBeside(_, "proxy"))
    options.requireBeside("proxyUsername", Password)
    options.requireBeside(Password, "proxyUsername")
    options.endpoint("proxy", "http://proxy.example.com:3128").map { uri =>
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
    if (value.contains(true) && options.contains("endpoint"))
      throw conflicting(
        s"Option ${options.named(name)} selects an endpoint of AWS, but " +
          s"${options.named("endpoint")} is set. Set only one of them."
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
