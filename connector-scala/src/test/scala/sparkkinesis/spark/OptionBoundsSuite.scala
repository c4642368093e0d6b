package sparkkinesis.spark

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._
import org.scalatest.prop.TableFor5

import sparkkinesis.client.options.{ConnectionOptions, OptionException, Options}
import sparkkinesis.sink.{AggregateLimits, DeadLetterOptions, SinkOptions}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.write.KinesisWriteBuilder

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
    "a URL with http or https and a host, such as http://proxy.example.com:3128"
  private val barePort =
    "a URL with scheme, host and port only, such as http://proxy.example.com:3128"

  private val kpl = stream + ("aggregation" -> "kpl")

  private val unit = "Write digits and a unit, without a space."
  private val digits = "Use digits only."
  private val default = "To use the default, remove the option."
  private val duration = "a duration above zero such as 200ms, 10s, 5m or 1h, at most 8760h"
  private val size = "a size above zero such as 512k, 64m or 1g, at most 1048576g"
  private val sizeOrZero = "0 or a size such as 512k, 64m or 1g, at most 1048576g"
  private val whole = s"a whole number from 1 to ${Int.MaxValue}"
  private val longWhole = s"a whole number from 1 to ${Long.MaxValue}"
  private val encrypted = "https, or a host of this machine"
  private val inClear =
    "Calls carry records and session tokens, and answers of the token service carry keys. For a " +
      "server of tests, set 'allowUnencryptedEndpoint' to true."
  private val url = "a URL with http or https and a host, such as http://127.0.0.1:4567"
  private val json =
    "or an instant such as 2026-11-21T08:00:00Z, or JSON with one of these for each stream"
  private val position = s"latest, trim_horizon, $json"
  private val zone = "An instant needs its time zone."
  private val iterator = "A shard iterator expires after 5 minutes."
  private val requestTimeout = "Remove the option to use the default, 10s."
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
    ("profile", " ", "a value", default, stream),
    (
      "credentialsProvider",
      "Vault Credentials",
      "the name of a class such as com.example.VaultCredentials",
      "Write the package and the class, separated by dots.",
      stream
    ),
    (
      "credentialsProviderSecret",
      " ",
      "a value",
      default,
      stream + ("credentialsProvider" -> "com.example.VaultCredentials")
    ),
    ("awsAccessKeyId", " ", "a value", default, keys),
    ("awsSecretAccessKey", " ", "a value", default, keys),
    ("awsSessionToken", " ", "a value", default, keys),
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
    ("roleExternalId", " ", "a value", default, inRole),
    ("stsEndpoint", "sts", url, default, inRole),
    ("proxy", "proxy:3128", proxyUrl, default, stream),
    ("proxy", "http://proxy", barePort, "Correct the URL.", stream),
    ("proxy", "http://proxy:3128/path", barePort, "Correct the URL.", stream),
    ("proxyUsername", " ", "a value", default, behindProxy),
    ("proxyPassword", " ", "a value", default, behindProxy),
    ("caBundle", " ", "a value", default, stream),
    ("allowUnencryptedEndpoint", "1", "true or false", "Set one of the two.", stream),
    ("useFipsEndpoint", "1", "true or false", "Set one of the two.", stream),
    ("useDualStackEndpoint", "on", "true or false", "Set one of the two.", stream),
    ("connectTimeout", "5", duration, unit, stream),
    ("readTimeout", "0s", duration, unit, stream),
    ("callTimeout", "1d", duration, unit, stream),
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
    ("consumerMode", "push", "polling or efo", "Set one of the two.", stream),
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
    ("maxRecordsPerTrigger", "0", longWhole, digits, stream),
    ("maxRecordsPerTrigger", "-5", longWhole, digits, stream),
    ("maxRecordsPerTrigger", "1e6", longWhole, digits, stream),
    ("maxRecordsPerTrigger", "9223372036854775808", longWhole, digits, stream),
    ("maxBytesPerTrigger", "0", size, unit, stream),
    ("maxBytesPerTrigger", "10mb", size, unit, stream),
    ("maxBytesPerTrigger", "999999999999g", size, unit, stream),
    ("minPartitions", "0", whole, digits, stream),
    ("minPartitions", "2147483648", whole, digits, stream),
    ("maxPartitions", "0", whole, digits, stream),
    ("maxPartitions", "2147483648", whole, digits, stream),
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
      "1s or longer, or none",
      "Without the option, it is half of the smallest delay of the query's watermarks.",
      stream
    ),
    ("maxShardSkew", "10", duration, unit, stream),
    ("failOnDataLoss", "no", "true or false", "Set one of the two.", stream),
    ("deaggregate", "no", "true or false", "Set one of the two.", stream),
    ("maxRecordsPerFetch", "0", whole, digits, stream),
    ("maxRecordsPerFetch", "10001", "1 to 10000", limit, stream),
    ("maxRecordsPerFetch", "2147483648", whole, digits, stream),
    ("minFetchPeriod", "0ms", duration, unit, stream),
    ("minFetchPeriod", "200", duration, unit, stream),
    ("minFetchPeriod", "241s", "at most 4m", iterator, stream),
    ("minFetchPeriod", "2h", "at most 4m", iterator, stream),
    ("minFetchPeriod", "999999999h", duration, unit, stream),
    ("idleFetchPeriod", "-1s", duration, unit, stream),
    ("idleFetchPeriod", "5m", "at most 4m", iterator, stream),
    ("fetchBufferSize", "0", size, unit, stream),
    ("fetchBufferSize", "1.5g", size, unit, stream),
    ("fetchBufferSize", "1048577g", size, unit, stream),
    ("fetchSpillSize", "-1", sizeOrZero, unit, stream),
    ("fetchSpillSize", "1048577g", sizeOrZero, unit, stream),
    ("shardDiscoveryInterval", "10", duration, unit, stream),
    ("shardDiscoveryInterval", "999ms", "1s to 1h", "Remove it to use 10s.", stream),
    ("shardDiscoveryInterval", "61m", "1s to 1h", "Remove it to use 10s.", stream),
    ("replayCheckpoint", " ", "a value", default, stream),
    ("replayBatches", "124-120", batches, smaller, replay),
    ("replayBatches", "-1", batches, smaller, replay),
    ("replayBatches", "1,,2", batches, smaller, replay),
    ("replayBatches", "0-10000", batches, smaller, replay),
    ("replayBatches", "9223372036854775808", batches, smaller, replay),
    ("replaySource", " ", "a value", default, replay + ("replayBatches" -> "1")),
    ("retryTimeout", "forever", duration, unit, stream),
    ("retryTimeout", "999ms", "1s or longer, or unlimited", "Remove it to use 5m.", stream)
  )

  private val sink = table(
    (
      "streamName",
      "a,b",
      "one stream",
      "Name one of the 2 streams, and start a query for each.",
      Map.empty
    ),
    ("deliveryTimeout", "0s", duration, unit, stream),
    ("deliveryTimeout", "5 m", duration, unit, stream),
    ("deliveryTimeout", "8761h", duration, unit, stream),
    ("requestTimeout", "999ms", "1s to 30s", requestTimeout, stream),
    ("requestTimeout", "31s", "1s to 30s", requestTimeout, stream),
    ("maxInFlightRequests", "0", whole, digits, stream),
    (
      "maxInFlightRequests",
      "257",
      "at most 256",
      "Use more tasks to send more requests at a time.",
      stream
    ),
    ("maxRequestRecords", "0", whole, digits, stream),
    ("maxRequestRecords", "501", "at most 500", putRecords, stream),
    ("maxRequestBytes", "0", size, unit, stream),
    ("maxRequestBytes", "10485761", "at most 10m", putRecords, stream),
    ("maxBufferedBytes", "0k", size, unit, stream),
    ("maxBufferedBytes", "2000000g", size, unit, stream),
    ("linger", "0ms", duration, unit, stream),
    (
      "linger",
      "61s",
      "at most 1m",
      "Remove the option to use the default: 100ms, or 5ms in real-time mode.",
      stream
    ),
    ("aggregation", "avro", "none or kpl", "Use one of these words.", stream),
    ("maxAggregateBytes", "50kb", size, unit, kpl),
    ("maxAggregateBytes", "1023", "1k to 1m", "Remove the option to use the default, 50k.", kpl),
    ("maxAggregateBytes", "1048577", "1k to 1m", "Remove the option to use the default, 50k.", kpl),
    ("maxAggregateRecords", "0", whole, digits, kpl),
    ("maxAggregateRecords", "2147483648", whole, digits, kpl),
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
    ("orderBy", " ", "a value", default, stream + ("ordering" -> "perKey")),
    ("deadLetterPath", " ", "a value", default, stream),
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
    val parsed = Options.parse(options, KinesisWriteBuilder.OptionNames)
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

  private def names(rows: Iterable[Wrong]): Set[String] = rows.map(_._1).toSet

  test("every option has a row in this table") {
    assert(names(connection ++ source) === SourceOptions.Names.toSet)
    assert(names(connection ++ sink) === KinesisWriteBuilder.OptionNames.toSet)
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
    val parsed = SinkOptions.parse(Options.parse(kept, KinesisWriteBuilder.OptionNames))
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
    val read = SinkOptions.parse(Options.parse(options, KinesisWriteBuilder.OptionNames))
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
      asSource(stream ++ Map("getRecords.fetchIntervalMs" -> "2000", "idleFetchPeriod" -> "1s"))
    }
    assert(e.condition === OptionException.ConflictingOptions)
    assert(
      e.getMessage === "Option 'idleFetchPeriod' is 1 second, which is shorter than " +
        "'getRecords.fetchIntervalMs' ('minFetchPeriod' here), 2000 milliseconds. " +
        "Use a longer period, or remove the option."
    )
    asSource(stream + ("minFetchPeriod" -> "2s"))
  }
}
