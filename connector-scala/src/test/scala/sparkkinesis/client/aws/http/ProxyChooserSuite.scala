package sparkkinesis.client.aws.http

import java.net.URI

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.KinesisException
import sparkkinesis.client.access.ProxyConfig

class ProxyChooserSuite extends AnyFunSuite {
  private def choice(
      properties: Map[String, String] = Map.empty,
      variables: Map[String, String] = Map.empty,
      option: Option[ProxyConfig] = None,
      scheme: String = "https"
  ): Option[ProxyChoice] = new ProxyChooser(properties.get, variables.get).choose(option, scheme)

  private def proxy(uri: String, user: Option[String] = None, password: Option[String] = None) =
    Some(ProxyConfig(URI.create(uri), user, password))

  private val everywhere = Map(
    "https.proxyHost" -> "jvm",
    "https.proxyPort" -> "8080",
    "http.proxyHost" -> "jvm-plain"
  )
  private val variables =
    Map("HTTPS_PROXY" -> "http://of-env:3128", "http_proxy" -> "http://of-env-plain:3128")

  test("the option comes before the JVM's properties, and these come before the environment") {
    val option = proxy("http://option:1")
    assert(choice(everywhere, variables, option).map(_.proxy) === option)
    assert(choice(everywhere, variables).map(_.proxy) === proxy("http://jvm:8080"))
    assert(choice(Map.empty, variables).map(_.proxy) === proxy("http://of-env:3128"))
    assert(choice() === None)
  }

  test("the scheme of the requests selects the settings") {
    val plain = choice(everywhere, variables, scheme = "http").map(_.proxy)
    assert(plain === proxy("http://jvm-plain:80"))
    val ofEnvironment = choice(variables = variables, scheme = "http").map(_.proxy)
    assert(ofEnvironment === proxy("http://of-env-plain:3128"))
    assert(choice(variables = Map("HTTP_PROXY" -> "http://plain:1")) === None)
  }

  test("user and password: in the JVM's properties, and decoded from a variable") {
    val ofJvm = everywhere ++ Map("https.proxyUser" -> "me", "https.proxyPassword" -> "hush")
    assert(
      choice(ofJvm).map(_.proxy) === proxy("http://jvm:8080", Some("me"), Some("hush"))
    )
    val ofEnvironment = Map("https_proxy" -> "https://me:p%40ss+1@proxy.example.com")
    assert(
      choice(variables = ofEnvironment).map(_.proxy) ===
        proxy("https://proxy.example.com:443", Some("me"), Some("p@ss+1"))
    )
  }

  test("a variable in lower case counts first, an empty one not at all, and it needs no scheme") {
    val both = Map("https_proxy" -> "lower:1", "HTTPS_PROXY" -> "http://upper:1")
    assert(choice(variables = both).map(_.proxy) === proxy("http://lower:1"))
    val empty = both + ("https_proxy" -> " ")
    assert(choice(variables = empty).map(_.proxy) === proxy("http://upper:1"))
  }

  test("a malformed proxy is refused by the name of its setting, without its value") {
    Seq("http://me:hush@pro xy:1", "ftp://me:hush@proxy", "http://").foreach { value =>
      val e = intercept[KinesisException.InvalidArgument] {
        choice(variables = Map("HTTPS_PROXY" -> value))
      }
      assert(e.getMessage.contains("the variable HTTPS_PROXY") && !e.getMessage.contains("hush"))
    }
    val port = Map("https.proxyHost" -> "proxy", "https.proxyPort" -> "many")
    assertThrows[KinesisException.InvalidArgument](choice(properties = port))
  }

  private def isDirect(choice: Option[ProxyChoice], host: String): Boolean =
    choice.get.direct.exists(host.matches(_))

  private val kinesis = "kinesis.eu-west-1.amazonaws.com"

  test("requests to this machine go without the proxy") {
    val chosen = choice(variables = variables)
    Seq("localhost", "127.0.0.1", "127.1.2.3", "[::1]").foreach(h => assert(isDirect(chosen, h), h))
    Seq(kinesis, "128.0.0.1", "localhost.example.com").foreach(h => assert(!isDirect(chosen, h), h))
  }

  test("NO_PROXY: domains with their subdomains, with or without a dot, a star or a port; or all") {
    def direct(noProxy: String, host: String) =
      isDirect(choice(variables = variables + ("NO_PROXY" -> noProxy)), host)
    Seq(
      "amazonaws.com",
      ".amazonaws.com",
      "*.amazonaws.com",
      "example.com, AMAZONAWS.com",
      "amazonaws.com:443",
      "*",
      kinesis
    ).foreach(it => assert(direct(it, kinesis), it))
    Seq("naws.com", "kinesis", "10.0.0.0/8", "sts.amazonaws.com", "example.com")
      .foreach(it => assert(!direct(it, kinesis), it))
    assert(direct("amazonaws.com", "123456789012.data-kinesis.eu-west-1.amazonaws.com"))
    assert(!direct("a.b", "axb"))
  }

  test("http.nonProxyHosts comes before NO_PROXY, and its stars stand for any text") {
    def direct(hosts: String, host: String) = isDirect(
      choice(Map("http.nonProxyHosts" -> hosts), variables + ("NO_PROXY" -> "*")),
      host
    )
    Seq("kinesis.*", "*.amazonaws.com", "a.example.com|*.AMAZONAWS.com", "kinesis.*.com", "*")
      .foreach(it => assert(direct(it, kinesis), it))
    Seq("amazonaws.com", "sts.*", "kinesis").foreach(it => assert(!direct(it, kinesis), it))
  }
}
