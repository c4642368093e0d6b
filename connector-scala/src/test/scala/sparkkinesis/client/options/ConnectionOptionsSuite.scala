package sparkkinesis.client.options

import java.net.URI

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import sparkkinesis.client.CredentialsSource._
import sparkkinesis.client.access.{NetworkConfig, ProxyConfig, Timeouts}
import sparkkinesis.client.options.OptionException._
import sparkkinesis.client.{CredentialsConfig, RoleConfig, StreamAccess}
import sparkkinesis.model.{StreamArn, StreamName, StreamRef}

class ConnectionOptionsSuite extends AnyFunSuite {
  private val arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
  private val role = "arn:aws:iam::123456789012:role/reader"
  private val named = Map("streamName" -> "orders", "region" -> "eu-west-1")

  private def parse(options: Map[String, String], default: => Option[String] = None) =
    ConnectionOptions.stream(Options.parse(options, ConnectionTable.all), default)

  private def client(extra: (String, String)*) = parse(named ++ extra).client

  private def streams(options: (String, String)*) =
    ConnectionOptions.streams(Options.parse(options.toMap, ConnectionTable.all), None)

  test("an endpoint on another machine needs https, unless an option allows clear text") {
    Seq("http://LOCALHOST:1", "http://127.1.2.3", "http://[::1]:1", "https://kinesis").foreach {
      url => assert(client("endpoint" -> url).endpoint === Some(URI.create(url)))
    }
    val url = "http://kinesis:4567"
    val allowed = client("endpoint" -> url, "allowUnencryptedEndpoint" -> "true")
    assert(allowed.endpoint === Some(URI.create(url)))
    assertThrows[OptionException](client("endpoint" -> url, "allowUnencryptedEndpoint" -> "false"))
  }

  test("the network's options, and their defaults") {
    assert(client().network === NetworkConfig.Default)
    val set = client(
      "proxy" -> "http://proxy:3128",
      "proxyUsername" -> "me",
      "proxyPassword" -> "hush",
      "caBundle" -> "/etc/ca.pem",
      "useFipsEndpoint" -> "true",
      "useDualStackEndpoint" -> "false",
      "connectTimeout" -> "1s",
      "readTimeout" -> "1m"
    ).network
    val proxy = ProxyConfig(URI.create("http://proxy:3128"), Some("me"), Some("hush"))
    assert(
      set === NetworkConfig(
        Some(proxy),
        Some("/etc/ca.pem"),
        Some(true),
        Some(false),
        Timeouts(1.second, 1.minute, 70.seconds)
      )
    )
    assert(!set.toString.contains("hush"))
    assert(
      client("callTimeout" -> "31s").network.timeouts === Timeouts(
        5.seconds,
        30.seconds,
        31.seconds
      )
    )
  }

  test("a stream is given by name, or by ARN, which also sets the region") {
    assert(parse(named).ref === StreamRef.ByName(StreamName("orders")))
    val StreamAccess(stream, config) = parse(Map("STREAMARN" -> arn), fail("not asked"))
    assert(stream === StreamRef.ByArn(StreamArn.parse(arn).get))
    assert(config.region === "eu-west-1")
  }

  test("the region is the option, else the default") {
    assert(parse(named, fail("not asked")).client.region === "eu-west-1")
    assert(parse(Map("streamName" -> "orders"), Some("us-east-2")).client.region === "us-east-2")
  }

  test("several streams are given by name in one region, or by ARN in several regions") {
    val byName = streams("streamName" -> "orders, refunds", "region" -> "eu-west-1")
    assert(byName.map(_.ref.toString) === Seq("orders", "refunds"))
    assert(byName.map(_.client).distinct.map(_.region) === Seq("eu-west-1"))
    val there = arn.replace("eu-west-1", "us-east-1").replace("123456789012", "999999999999")
    val byArn = streams("streamArn" -> s"$arn,$there", "profile" -> "dev")
    assert(byArn.map(_.ref.toString) === Seq(arn, there))
    assert(byArn.map(_.client.region) === Seq("eu-west-1", "us-east-1"))
    assert(byArn.map(_.client.credentials).distinct.size === 1)
  }

  private val endpoints = Table(
    ("endpoint", "region"),
    ("https://kinesis.us-east-1.amazonaws.com", "us-east-1"),
    ("https://kinesis-fips.us-gov-west-1.amazonaws.com/", "us-gov-west-1"),
    ("https://Kinesis.cn-north-1.amazonaws.com.cn:443", "cn-north-1"),
    ("https://vpce-0a1.kinesis.eu-west-1.vpce.amazonaws.com", "eu-west-1"),
    ("https://123456789012.control-kinesis.eu-west-3.amazonaws.com", "eu-west-3"),
    ("https://kinesis.us-east-1.amazonaws.com.example.com", "default"),
    ("http://127.0.0.1:4567", "default")
  )

  test("without a region, the region comes from an AWS endpoint") {
    forAll(endpoints) { (endpoint, region) =>
      val options = Map("streamName" -> "orders", "endpoint" -> endpoint)
      assert(parse(options, Some("default")).client.region === region)
      assert(parse(options + ("region" -> region)).client.region === region, "and may be said")
    }
  }

  test("endpoint, credentials and role are parsed") {
    assert(client("endpoint" -> "http://127.0.0.1:4567").endpoint.map(_.getPort) === Some(4567))
    assert(client().credentials === CredentialsConfig(DefaultChain, None))
    assert(client("profile" -> "dev").credentials.source === Profile("dev"))
    val keys = Seq("awsAccessKeyId" -> "ID", "awsSecretAccessKey" -> "hush")
    assert(client(keys: _*).credentials.source === Static("ID", "hush", None))
    val session = keys :+ ("awsSessionToken" -> "token")
    assert(client(session: _*).credentials.source === Static("ID", "hush", Some("token")))
    assert(
      client("roleArn" -> role).credentials.role ===
        Some(RoleConfig(role, "spark-kinesis", None, None))
    )
    val full = client(
      "roleArn" -> role,
      "roleSessionName" -> "me",
      "roleExternalId" -> "outside",
      "stsEndpoint" -> "https://sts.example.com"
    )
    assert(
      full.credentials.role ===
        Some(RoleConfig(role, "me", Some("outside"), Some(URI.create("https://sts.example.com"))))
    )
  }

  private val refused = Table[Map[String, String], String, String](
    ("options", "condition", "message holds"),
    (Map("region" -> "eu-west-1"), MissingOption, "'streamName'"),
    (named + ("streamArn" -> arn), ConflictingOptions, "Both 'streamName' and 'streamArn'"),
    (named + ("streamName" -> "a,b"), InvalidOption, "Name one of the 2"),
    (
      named + ("endpoint" -> "https://kinesis.us-east-1.amazonaws.com"),
      ConflictingOptions,
      "is an endpoint of us-east-1, but stream orders is in eu-west-1"
    ),
    (named + ("streamName" -> "a,b,a"), InvalidOption, "Name a only once"),
    (named + ("streamName" -> "a,,b"), InvalidOption, "the extra comma"),
    (named + ("streamName" -> s"a,$arn"), InvalidOption, "and all other streams in 'streamArn'"),
    (Map("streamArn" -> s"$arn,orders"), InvalidOption, "Correct 'orders'"),
    (named + ("streamName" -> "a b"), InvalidOption, "Option 'streamName' is 'a b'"),
    (Map("streamArn" -> "arn:aws:s3:::b"), InvalidOption, "Option 'streamArn' is 'arn:aws:s3:::b'"),
    (Map("streamName" -> "orders"), MissingRegion, "stream orders"),
    (named + ("region" -> "Ireland"), InvalidOption, "Option 'region' is 'Ireland'"),
    (Map("streamArn" -> arn, "region" -> "us-east-1"), ConflictingOptions, "is in eu-west-1"),
    (named + ("endpoint" -> "127.0.0.1:4567"), InvalidOption, "Option 'endpoint'"),
    (named + ("endpoint" -> "ftp://h"), InvalidOption, "http or https"),
    (named + ("endpoint" -> "http://localhost.example.com"), InvalidOption, "https, or a host"),
    (named + ("endpoint" -> "http://u:hush@h"), InvalidOption, "without user and password"),
    (named + ("awsAccessKeyId" -> "hush"), MissingOption, "'awsSecretAccessKey' is missing"),
    (named + ("awsSecretAccessKey" -> "hush"), MissingOption, "'awsAccessKeyId' is missing"),
    (named + ("awsSessionToken" -> "hush"), MissingOption, "'awsAccessKeyId' is missing"),
    (named ++ Map("profile" -> "p", "awsAccessKeyId" -> "hush"), ConflictingOptions, "one kind"),
    (named + ("proxyPassword" -> "hush"), MissingOption, "without 'proxy'"),
    (
      named ++ Map("proxy" -> "http://h:1", "proxyUsername" -> "me"),
      MissingOption,
      "without 'proxyPassword'"
    ),
    (
      named ++ Map("proxy" -> "http://h:1", "proxyPassword" -> "hush"),
      MissingOption,
      "without 'proxyUsername'"
    ),
    (named + ("proxy" -> "http://me:hush@h:1"), InvalidOption, "Option 'proxy' is '***'"),
    (
      named ++ Map("useFipsEndpoint" -> "true", "endpoint" -> "https://h"),
      ConflictingOptions,
      "Fips"
    ),
    (
      named ++ Map("useDualStackEndpoint" -> "true", "endpoint" -> "https://h"),
      ConflictingOptions,
      "DualStack"
    ),
    (named + ("credentialsProviderSecret" -> "x"), MissingOption, "without 'credentialsProvider'"),
    (
      named ++ Map("credentialsProvider" -> "a.B", "profile" -> "p"),
      ConflictingOptions,
      "one kind of credentials"
    ),
    (named + ("roleArn" -> "reader"), InvalidOption, "Option 'roleArn' is 'reader'"),
    (
      Map("streamName" -> "orders", "kinesis.region" -> "Ireland"),
      InvalidOption,
      "Option 'region' is 'Ireland'"
    ),
    (named + ("roleExternalId" -> "hush"), MissingOption, "without 'roleArn'"),
    (named + ("stsEndpoint" -> "https://h"), MissingOption, "without 'roleArn'"),
    (
      named ++ Map("roleArn" -> role, "roleSessionName" -> "a b"),
      InvalidOption,
      "'roleSessionName'"
    )
  )

  test("missing, invalid or contradictory options are refused, and no message contains a secret") {
    forAll(refused) { (options, condition, text) =>
      val e = intercept[OptionException](parse(options))
      assert(e.condition === condition)
      assert(e.getMessage.contains(text))
      assert(!e.getMessage.contains("hush"))
    }
  }
}
