package sparkkinesis.spark

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._
import org.scalatest.prop.TableFor5

import sparkkinesis.client.options._
import sparkkinesis.sink.{AggregateLimits, DeadLetterOptions, SinkOptions}
import sparkkinesis.source.options.SourceOptions

/** Invalid values of every option, and the error of each: value, expected values, remedy. */
class OptionBoundsSuite extends AnyFunSuite {
  private type Wrong = (String, String, String, String, Map[String, String])

  private val stream = Map("streamName" -> "orders")
  private val arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
  private val inRole = stream + ("roleArn" -> "arn:aws:iam::123456789012:role/reader")
  private val keys = stream ++ Map("awsAccessKeyId" -> "ID", "awsSecretAccessKey" -> "hush")

  private val behindProxy = stream ++
    Map("proxy" -> "http://proxy:3128", "proxyUsername" -> "me", "proxyPassword" -> "hush")
  private val proxyUrl =
    "a URL with http or https and a host, without user and password, such as " +
      "http://proxy.example.com:3128"
  private val barePort =
    "a URL with scheme, host and port only, such as http://proxy.example.com:3128"

  private val kpl = stream + ("aggregation" -> "kpl")

  private val unit = "Write digits and a unit, without a space."
  private val default = "To use the default, remove the option."
  private val encrypted = "https, or a host of this machine"
  private val inClear =
    "Calls carry records and session tokens, and answers of the token service carry keys. For a " +
      "server of tests, set 'allowUnencryptedEndpoint' to true."
  private val url =
    "a URL with http or https and a host, without user and password, such as http://127.0.0.1:4567"
  private val json =
    "or an instant such as 2026-11-21T08:00:00Z, or JSON with one of these for each stream"
  private val position = s"latest, trim_horizon, $json"
  private val zone = "An instant needs its time zone."
  private val iterator = "A shard iterator expires after 5 minutes."
  private val fromSecond = "a duration of at least 1s such as 10s, 5m or 1h, at most 8760h"
  private val toHalfMinute = "a duration of at least 1s such as 10s, at most 30s"
  private val toMinute = "a duration above zero such as 200ms or 10s, at most 1m"
  private val toHour = "a duration of at least 1s such as 10s, 5m or 1h, at most 1h"
  private val period = "a duration above zero such as 200ms or 10s, at most 4m"
  private val moreTasks = "Use more tasks to send more requests at a time."
  private val request = "a size above zero such as 512k, at most 10m"
  private val aggregate = "a size of at least 1k such as 512k, at most 1m"
  private val putRecords = "This is the limit of PutRecords."
  private val comma = "Remove the extra comma."
  private val limit = "This is the limit of GetRecords."
  private val replay = stream + ("replayCheckpoint" -> "/checkpoints/orders")
  private val batches = "numbers of micro-batches such as 120-124 or 120,122, at most 10000"
  private val smaller = "A range begins with its smaller number."

  private def table(first: Wrong, rest: Wrong*): TableFor5[
    String,
    String,
    String,
    String,
    Map[String, String]
  ] = Table(("option", "value", "expected", "remedy", "beside"), (first +: rest): _*)

  private val connection = table(
    (
      "streamName",
      "a b",
      "1 to 128 of a-z, A-Z, 0-9, _ . -",
      "Correct 'a b'. Separate several streams by commas.",
      Map.empty
    ),
    ("streamName", "a,b,a", "different streams", "Name a only once.", Map.empty),
    ("streamName", "a,,b", "a value before and after each comma", comma, Map.empty),
    (
      "streamArn",
      "orders",
      s"an ARN such as $arn",
      "Correct 'orders': copy the ARN from the Kinesis console or 'aws kinesis list-streams'.",
      Map.empty
    ),
    ("region", "Ireland", "a region such as eu-west-1", "Use its code, not its title.", stream),
    ("endpoint", "127.0.0.1:4567", url, default, stream),
    ("endpoint", "ftp://127.0.0.1", url, default, stream),
    ("endpoint", "http://", url, default, stream),
    ("endpoint", "http://127.0.0.1.example.com:4567", encrypted, inClear, stream),
    ("stsEndpoint", "http://sts", encrypted, inClear, inRole),
    (
      "credentialsProvider",
      "Vault Credentials",
      "the name of a class such as com.example.VaultCredentials",
      "Write the package and the class, separated by dots.",
      stream
    ),
    (
      "roleArn",
      "reader",
      "an ARN such as arn:aws:iam::123456789012:role/reader",
      "Copy it from the IAM console.",
      stream
    ),
    (
      "roleSessionName",
      "a",
      "2 to 64 of a-z, A-Z, 0-9, _ + = , . @ -",
      "Correct the name.",
      inRole
    ),
    (
      "roleSessionName",
      "a" * 65,
      "2 to 64 of a-z, A-Z, 0-9, _ + = , . @ -",
      "Correct the name.",
      inRole
    ),
    ("stsEndpoint", "sts", url, default, inRole),
    ("proxy", "proxy:3128", proxyUrl, default, stream),
    ("proxy", "http://proxy", barePort, "Correct the URL.", stream),
    ("proxy", "http://proxy:3128/path", barePort, "Correct the URL.", stream),
    ("allowUnencryptedEndpoint", "1", "true or false", "Set one of the two.", stream),
    ("useFipsEndpoint", "1", "true or false", "Set one of the two.", stream),
    ("useDualStackEndpoint", "on", "true or false", "Set one of the two.", stream),
    (
      "callTimeout",
      "29s",
      "at least 30000ms, as 'readTimeout' says",
      "A call contains the request. Remove one of the two options.",
      stream
    )
  )

  private val consumerArn = s"$arn/consumer/app:1700000000"
  private val efo = stream + ("consumerMode" -> "efo")
  private val source = table(
    ("consumerMode", "push", "polling or efo", "Use one of these words.", stream),
    ("consumerName", "a b", "1 to 128 of a-z, A-Z, 0-9, _ . -", "Correct the name.", efo),
    (
      "consumerArn",
      "reader",
      s"an ARN such as $consumerArn",
      "Correct 'reader'. 'aws kinesis list-stream-consumers' shows the ARNs.",
      efo
    ),
    (
      "consumerArn",
      s"$consumerArn,$consumerArn",
      "one consumer of each stream",
      "Stream orders has 2 of them.",
      efo
    ),
    ("startingPosition", "newest", position, zone, stream),
    ("startingPosition", "2026-11-21T08:00:00", position, zone, stream),
    ("startingPosition", "2026-02-30T08:00:00Z", position, zone, stream),
    ("startingPosition", "1700000000000", position, zone, stream),
    ("endingPosition", "trim_horizon", s"latest, $json", zone, stream),
    ("endingPosition", "2026-11-21", s"latest, $json", zone, stream),
    ("allowStreamRemoval", "1", "true or false", "Set one of the two.", stream),
    (
      "maxPartitions",
      "2",
      "3 or more, as 'minPartitions' says",
      "Remove one of them.",
      stream + ("minPartitions" -> "3")
    ),
    (
      "maxShardSkew",
      "999ms",
      s"$fromSecond, or none",
      default,
      stream
    ),
    ("maxShardSkew", "10", s"$fromSecond, or none", unit, stream),
    ("failOnDataLoss", "no", "true or false", "Set one of the two.", stream),
    ("deaggregate", "no", "true or false", "Set one of the two.", stream),
    ("maxRecordsPerFetch", "0", "a whole number from 1 to 10000", limit, stream),
    ("maxRecordsPerFetch", "10001", "a whole number from 1 to 10000", limit, stream),
    ("minFetchPeriod", "0ms", period, iterator, stream),
    ("minFetchPeriod", "200", period, unit, stream),
    ("minFetchPeriod", "241s", period, iterator, stream),
    ("minFetchPeriod", "999999999h", period, iterator, stream),
    ("idleFetchPeriod", "-1s", period, unit, stream),
    ("idleFetchPeriod", "5m", period, iterator, stream),
    ("shardDiscoveryInterval", "10", toHour, unit, stream),
    ("shardDiscoveryInterval", "999ms", toHour, default, stream),
    ("shardDiscoveryInterval", "61m", toHour, default, stream),
    ("replayBatches", "124-120", batches, smaller, replay),
    ("replayBatches", "-1", batches, smaller, replay),
    ("replayBatches", "1,,2", batches, smaller, replay),
    ("replayBatches", "0-10000", batches, smaller, replay),
    ("replayBatches", "9223372036854775808", batches, smaller, replay),
    ("retryTimeout", "forever", s"$fromSecond, or unlimited", unit, stream),
    ("retryTimeout", "999ms", s"$fromSecond, or unlimited", default, stream)
  )

  private val sink = table(
    (
      "streamName",
      "a,b",
      "one stream",
      "Name one of the 2 streams, and start a query for each.",
      Map.empty
    ),
    ("requestTimeout", "999ms", toHalfMinute, default, stream),
    ("requestTimeout", "31s", toHalfMinute, default, stream),
    ("maxInFlightRequests", "0", "a whole number from 1 to 256", moreTasks, stream),
    ("maxInFlightRequests", "257", "a whole number from 1 to 256", moreTasks, stream),
    ("maxRequestRecords", "0", "a whole number from 1 to 500", putRecords, stream),
    ("maxRequestRecords", "501", "a whole number from 1 to 500", putRecords, stream),
    ("maxRequestBytes", "0", request, putRecords, stream),
    ("maxRequestBytes", "10485761", request, putRecords, stream),
    ("linger", "0ms", toMinute, default, stream),
    ("linger", "61s", toMinute, default, stream),
    ("aggregation", "avro", "none or kpl", "Use one of these words.", stream),
    ("maxAggregateBytes", "50kb", aggregate, unit, kpl),
    ("maxAggregateBytes", "1023", aggregate, default, kpl),
    ("maxAggregateBytes", "1048577", aggregate, default, kpl),
    (
      "deliveryGuarantee",
      "sometimes",
      "atLeastOnce or exactlyOnce",
      "Use one of these words.",
      stream
    ),
    (
      "writeId",
      "../x",
      "1 to 128 of a-z, A-Z, 0-9, _ . -, and a letter or digit first",
      "It names a folder.",
      kpl + ("deliveryGuarantee" -> "exactlyOnce")
    ),
    ("ordering", "total", "none or perKey", "Use one of these words.", stream),
    (
      "onDeliveryTimeout",
      "drop",
      "fail or deadLetter",
      "Use one of these words.",
      stream + ("deadLetterPath" -> "letters")
    )
  )

  private def asSource(options: Map[String, String]): Any =
    SourceOptions.parse(options, Some("eu-west-1"))

  private def asSink(options: Map[String, String]): Any = {
    val parsed = Options.parse(options, SinkOptions.All)
    SinkOptions.parse(parsed) -> ConnectionOptions.stream(parsed, Some("eu-west-1"))
  }

  private def check(as: Map[String, String] => Any)(rows: Iterable[Wrong]): Unit =
    rows.foreach { case (name, value, expected, remedy, beside) =>
      withClue(s"$name=$value: ") {
        val e = intercept[OptionException](as(beside + (name -> value)))
        val shown = if (Secret(name)) "***" else value
        assert(e.condition === OptionException.InvalidOption)
        assert(e.getMessage === s"Option '$name' is '$shown': expected $expected. $remedy")
      }
    }

  private val Secret =
    Set(
      "awsAccessKeyId",
      "awsSecretAccessKey",
      "awsSessionToken",
      "credentialsProviderSecret",
      "roleExternalId",
      "proxyPassword"
    )

  test("a value out of bounds is refused, and the error has the expected values and the remedy") {
    check(asSource)(connection ++ source)
    check(asSink)(connection ++ sink)
  }

  /** A value of another type. */
  private val ofOtherType = Map(
    "text" -> " ",
    "texts" -> "a,,b",
    "word" -> "other",
    "boolean" -> "1",
    "number" -> "0",
    "size" -> "10mb",
    "duration" -> "10",
    "url" -> "ftp://127.0.0.1"
  )

  /** Options with which each other one has an effect. */
  private def withEffect(name: String): Map[String, String] = name match {
    case "streamName" | "streamArn" => Map.empty
    case "awsAccessKeyId" | "awsSecretAccessKey" | "awsSessionToken" => keys
    case "credentialsProviderSecret" => stream + ("credentialsProvider" -> "com.example.Vault")
    case "roleSessionName" | "roleExternalId" | "stsEndpoint" => inRole
    case "proxyUsername" | "proxyPassword" => behindProxy
    case "consumerName" | "consumerArn" => efo
    case "replayBatches" => replay
    case "replaySource" => replay + ("replayBatches" -> "1")
    case "maxAggregateBytes" | "maxAggregateRecords" => kpl
    case "writeId" => kpl + ("deliveryGuarantee" -> "exactlyOnce")
    case "orderBy" => stream + ("ordering" -> "perKey")
    case "onDeliveryTimeout" => stream + ("deadLetterPath" -> "letters")
    case _ => stream
  }

  private def checkTypes(as: Map[String, String] => Any)(options: Seq[OptionSpec[_]]): Unit =
    options.foreach { option =>
      val value = ofOtherType(option.kind.name)
      val e = intercept[OptionException](as(withEffect(option.name) + (option.name -> value)))
      val expected = if (value.isBlank) "a value" else option.kind.expected
      val shown = if (option.isSecret) "***" else value
      assert(e.condition === OptionException.InvalidOption)
      assert(e.getMessage.startsWith(s"Option '${option.name}' is '$shown': expected $expected."))
    }

  test("every option is read, and a value of another type is refused") {
    checkTypes(asSource)(SourceOptions.All)
    checkTypes(asSink)(SinkOptions.All)
  }

  test("the bounds themselves are accepted") {
    val least = Map(
      "maxRecordsPerTrigger" -> "1",
      "maxBytesPerTrigger" -> "1",
      "minPartitions" -> "1",
      "maxPartitions" -> "1",
      "maxShardSkew" -> "1s",
      "maxRecordsPerFetch" -> "1",
      "minFetchPeriod" -> "1ms",
      "idleFetchPeriod" -> "1ms",
      "fetchSpillSize" -> "0",
      "fetchBufferSize" -> "1" // a first page is always let in: slow, not wrong
    )
    val most = Map(
      "maxRecordsPerTrigger" -> Long.MaxValue.toString,
      "maxBytesPerTrigger" -> "1048576g",
      "minPartitions" -> Int.MaxValue.toString,
      "maxPartitions" -> Int.MaxValue.toString,
      "maxShardSkew" -> "8760h",
      "maxRecordsPerFetch" -> "10000",
      "minFetchPeriod" -> "4m",
      "idleFetchPeriod" -> "4m",
      "fetchBufferSize" -> "1048576g",
      "fetchSpillSize" -> "1048576g"
    )
    Seq(least, most).foreach(options => asSource(stream ++ options))
    val leastOfSink = Map(
      "deliveryTimeout" -> "1ms",
      "requestTimeout" -> "1s",
      "maxInFlightRequests" -> "1",
      "maxRequestRecords" -> "1",
      "maxRequestBytes" -> "1",
      "linger" -> "1ms",
      "maxAggregateBytes" -> "1k",
      "maxAggregateRecords" -> "1"
    )
    val mostOfSink = Map(
      "deliveryTimeout" -> "8760h",
      "requestTimeout" -> "30s",
      "maxInFlightRequests" -> "256",
      "maxRequestRecords" -> "500",
      "maxRequestBytes" -> "10m",
      "linger" -> "1m",
      "maxAggregateBytes" -> "1m",
      "maxAggregateRecords" -> Int.MaxValue.toString
    )
    Seq(leastOfSink, mostOfSink).foreach(options => asSink(kpl ++ options))
  }

  test("an option that has no effect without another one is refused alone") {
    val alone = Table(
      ("option", "value", "other"),
      ("maxAggregateBytes", "50k", "aggregation=kpl"),
      ("maxAggregateRecords", "10", "aggregation=kpl"),
      ("orderBy", "seq", "ordering=perKey"),
      ("writeId", "nightly", "deliveryGuarantee=exactlyOnce' or 'deadLetterPath")
    )
    forAll(alone) { (name, value, other) =>
      Seq(Map.empty, Map("aggregation" -> "none", "ordering" -> "none")).foreach { beside =>
        val e = intercept[OptionException](asSink(stream ++ beside + (name -> value)))
        assert(e.condition === OptionException.MissingOption)
        assert(
          e.getMessage === s"Option '$name' has no effect without '$other'. Set both options, or " +
            "remove this one."
        )
      }
    }
  }

  test("a replay needs a checkpoint and batches, and has no other end") {
    val checkpoint = "replayCheckpoint" -> "/checkpoints/orders"
    Seq("replayBatches" -> "1", "replaySource" -> "0").foreach { case option @ (name, _) =>
      val e = intercept[OptionException](asSource(stream + option))
      assert(e.condition === OptionException.MissingOption)
      assert(e.getMessage.startsWith(s"Option '$name' has no effect without 'replayCheckpoint'."))
    }
    val e = intercept[OptionException](asSource(stream + checkpoint))
    assert(e.condition === OptionException.MissingOption)
    assert(e.getMessage.contains("option 'replayBatches' is missing"))
    val all = stream + checkpoint + ("replayBatches" -> "1") + ("endingPosition" -> "latest")
    assert(
      intercept[OptionException](asSource(all)).condition === OptionException.ConflictingOptions
    )
    asSource(all - "endingPosition")
  }

  test("onDeliveryTimeout=deadLetter needs a folder, and neither order nor exactly once") {
    val late = kpl + ("onDeliveryTimeout" -> "deadLetter")
    val e = intercept[OptionException](asSink(late))
    assert(e.condition === OptionException.MissingOption)
    assert(e.getMessage.contains("option 'deadLetterPath' is missing"))
    val kept = late + ("deadLetterPath" -> "letters")
    Seq("ordering" -> "perKey", "deliveryGuarantee" -> "exactlyOnce").foreach { other =>
      val e = intercept[OptionException](asSink(kept + other))
      assert(e.condition === OptionException.ConflictingOptions)
      assert(e.getMessage.contains(s"with '${other._1}'=${other._2}:"))
    }
    val parsed = SinkOptions.parse(Options.parse(kept, SinkOptions.All))
    assert(parsed.deadLetters.exists(_.keepsLateRecords))
  }

  test("the values of the sink's options are accepted in any case") {
    val options = Map(
      "aggregation" -> "KPL",
      "ordering" -> "PerKey",
      "orderBy" -> "Seq",
      "deadLetterPath" -> "letters",
      "onDeliveryTimeout" -> "FAIL"
    )
    val read = SinkOptions.parse(Options.parse(options, SinkOptions.All))
    assert(read.aggregation.contains(AggregateLimits()) && read.isOrdered)
    assert(read.orderBy.contains("Seq"))
    assert(read.deadLetters.contains(DeadLetterOptions("letters")))
  }

  test("retryTimeout may be unlimited") {
    val forever = SourceOptions.parse(stream + ("retryTimeout" -> "Unlimited"), Some("eu-west-1"))
    assert(forever.fetch.reads.retryTimeout === None)
  }

  test("idleFetchPeriod must not be shorter than minFetchPeriod") {
    val e = intercept[OptionException] {
      asSource(stream ++ Map("minFetchPeriod" -> "2s", "idleFetchPeriod" -> "1s"))
    }
    assert(e.condition === OptionException.ConflictingOptions)
    assert(
      e.getMessage === "Option 'idleFetchPeriod' is 1 second, which is shorter than " +
        "'minFetchPeriod', 2 seconds. Use a longer period, or remove the option."
    )
    asSource(stream + ("minFetchPeriod" -> "2s"))
  }
}
