package sparkkinesis.client.options

import java.net.URI

import scala.util.Try

import sparkkinesis.client.access.{NetworkConfig, ProxyConfig, Timeouts}
import sparkkinesis.client.options.ConnectionTable._
import sparkkinesis.client.options.OptionException._
import sparkkinesis.client.options.OptionNames.normalized

/** The options for the way to AWS: proxy, certificates, kinds of endpoints, timeouts. */
private[sparkkinesis] object NetworkOptions {

  /** A call also waits for its credentials. */
  private val CallBeyondRead = Timeouts.Default.call - Timeouts.Default.attempt

  /** @throws OptionException if an option is missing, invalid or in conflict with another */
  def parse(options: Options): NetworkConfig = {
    options(AllowUnencryptedEndpoint): Unit // its value counts beside an endpoint
    NetworkConfig(
      proxy(options),
      options.get(CaBundle),
      kindOfEndpoint(options, UseFipsEndpoint),
      kindOfEndpoint(options, UseDualStackEndpoint),
      timeouts(options)
    )
  }

  private def proxy(options: Options): Option[ProxyConfig] = {
    options.requireBeside(ProxyUsername, ProxyPassword)
    options.requireBeside(ProxyPassword, ProxyUsername)
    options.get(Proxy).map { uri =>
      if (uri.getPort < 0 || Seq("", "/").forall(_ != uri.getPath) || uri.getQuery != null)
        throw options.invalid(
          Proxy,
          "a URL with scheme, host and port only, such as http://proxy.example.com:3128",
          "Correct the URL."
        )
      ProxyConfig(uri, options.get(ProxyUsername), options.get(ProxyPassword))
    }
  }

  private def kindOfEndpoint(options: Options, option: OptionSpec[Boolean]): Option[Boolean] = {
    val value = options.get(option)
    if (value.contains(true) && options.contains(Endpoint))
      throw conflicting(
        s"Option '${option.name}' selects an endpoint of AWS, but 'endpoint' is set. Set only " +
          "one of them."
      )
    value
  }

  private def timeouts(options: Options): Timeouts = {
    val read = options(ReadTimeout)
    val call = options.get(CallTimeout).getOrElse(read + CallBeyondRead)
    if (read > call)
      throw options.invalid(
        CallTimeout,
        s"at least ${read.toMillis}ms, as 'readTimeout' says",
        "A call contains the request. Remove one of the two options."
      )
    Timeouts(options(ConnectTimeout), read, call)
  }

  /**
   * A URL to which calls go: `https`, or `http` if the host is this machine or if
   * `allowUnencryptedEndpoint` is set.
   */
  def encrypted(options: Options, option: OptionSpec[URI]): Option[URI] = {
    val url = options.get(option)
    def isSafe(it: URI) = isHttps(it) || isLoopback(it) || options(AllowUnencryptedEndpoint)
    url.filterNot(isSafe).foreach { _ =>
      throw options.invalid(
        option,
        "https, or a host of this machine",
        "Calls carry records and session tokens, and answers of the token service carry keys. " +
          "For a server of tests, set 'allowUnencryptedEndpoint' to true."
      )
    }
    url
  }

  /** Whether the text is a URL of this machine: `localhost`, `127.*` or `[::1]`. */
  def isOnThisMachine(url: String): Boolean = Try(new URI(url)).toOption.exists(isLoopback)

  private def isHttps(uri: URI) = normalized(uri.getScheme) == "https"

  private def isLoopback(uri: URI) = Option(uri.getHost).map(normalized).exists { host =>
    host == "localhost" || host == "[::1]" || host.matches("127(\\.\\d{1,3}){3}")
  }
}
