package sparkkinesis.client.aws.http

import java.net.{URI, URLDecoder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale
import java.util.regex.Pattern

import scala.util.Try

import sparkkinesis.client.KinesisException
import sparkkinesis.client.access.ProxyConfig

/**
 * The proxy of one client.
 *
 * @param direct patterns of hosts, in lower case, to which requests go without the proxy
 */
private[aws] final case class ProxyChoice(proxy: ProxyConfig, direct: Set[String])

/**
 * Chooses the proxy: the option, the properties of the JVM, or the environment. The SDK's own
 * choice would differ between its HTTP clients, would use `HTTP_PROXY` for HTTPS, and would send
 * requests for a local Kinesis to the proxy.
 *
 * @param property of the JVM
 * @param variable of the environment
 */
private[aws] final class ProxyChooser(
    property: String => Option[String],
    variable: String => Option[String]
) {
  import ProxyChooser._

  /**
   * @param scheme of the requests, `http` or `https`
   * @throws KinesisException.InvalidArgument if a setting is malformed
   */
  def choose(option: Option[ProxyConfig], scheme: String): Option[ProxyChoice] =
    option.orElse(ofJvm(scheme)).orElse(ofEnvironment(scheme)).map(ProxyChoice(_, direct))

  private def ofJvm(scheme: String): Option[ProxyConfig] =
    set(property, s"$scheme.proxyHost").map { host =>
      val port = set(property, s"$scheme.proxyPort").getOrElse(DefaultPorts(scheme).toString)
      val uri = parse(s"http://$host:$port", s"the JVM property $scheme.proxyHost or .proxyPort")
      ProxyConfig(
        uri,
        set(property, s"$scheme.proxyUser"),
        set(property, s"$scheme.proxyPassword")
      )
    }

  /** The proxy that a variable in lower case names, or else the one in upper case. */
  private def ofEnvironment(scheme: String): Option[ProxyConfig] = for {
    name <- Seq(s"${scheme}_proxy", s"${scheme}_proxy".toUpperCase(Locale.ROOT))
      .find(set(variable, _).nonEmpty)
    text <- set(variable, name)
  } yield {
    val whole = parse(if (text.contains("://")) text else s"http://$text", s"the variable $name")
    val user = Option(whole.getRawUserInfo).map(_.split(":", 2).map(decoded))
    val port = if (whole.getPort < 0) DefaultPorts(whole.getScheme) else whole.getPort
    ProxyConfig(
      URI.create(s"${whole.getScheme}://${whole.getHost}:$port"),
      user.map(_.head),
      user.flatMap(_.lift(1))
    )
  }

  /** Always with this machine itself. */
  private def direct: Set[String] = {
    val ofJvm = set(property, "http.nonProxyHosts").map(_.split('|').toSeq.map(jvmPattern))
    val ofEnvironment = Seq("no_proxy", "NO_PROXY").flatMap(set(variable, _)).headOption.map {
      _.split(',').toSeq.map(_.trim).filterNot(_.isEmpty).map(domainPattern)
    }
    Loopback ++ ofJvm.orElse(ofEnvironment).getOrElse(Nil)
  }
}

private[aws] object ProxyChooser {
  val OfMachine = new ProxyChooser(sys.props.get(_), sys.env.get(_))

  private val DefaultPorts = Map("http" -> 80, "https" -> 443)
  private val Loopback = Set("localhost", "127\\..*", "\\[?::1\\]?")

  private def set(values: String => Option[String], name: String): Option[String] =
    values(name).map(_.trim).filter(_.nonEmpty)

  /** A star stands for any text. */
  private def jvmPattern(host: String): String = host.trim
    .toLowerCase(Locale.ROOT)
    .split("\\*", -1)
    .map(part => if (part.isEmpty) "" else Pattern.quote(part))
    .mkString(".*")

  /** A domain and its subdomains, without a port; a star stands for all hosts. */
  private def domainPattern(entry: String): String = {
    val domain = entry.toLowerCase(Locale.ROOT).replaceFirst(":\\d+$", "")
    if (domain == "*") ".*"
    else s"(.*\\.)?${Pattern.quote(domain.stripPrefix("*").stripPrefix("."))}"
  }

  private def decoded(text: String): String =
    URLDecoder.decode(text.replace("+", "%2B"), UTF_8)

  /** The value may contain a password, so the message does not contain it. */
  private def parse(text: String, origin: String): URI = {
    val uri = Try(new URI(text)).toOption.filter { it =>
      it.getHost != null && DefaultPorts.contains(it.getScheme)
    }
    uri.getOrElse {
      throw new KinesisException.InvalidArgument(
        s"The proxy in $origin is malformed: expected a URL such as " +
          "http://proxy.example.com:3128. Correct it, or set option 'proxy'."
      )
    }
  }
}
