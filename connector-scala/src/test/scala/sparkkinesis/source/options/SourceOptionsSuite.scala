package sparkkinesis.source.options

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import sparkkinesis.client.options.OptionException
import sparkkinesis.client.options.OptionException._
import sparkkinesis.model.{Position, StreamName, StreamRef}
import sparkkinesis.shard.ReadSettings
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.protocol.ReadLimits

class SourceOptionsSuite extends AnyFunSuite {
  private def parse(options: (String, String)*) =
    SourceOptions.parse(Map("streamName" -> "orders") ++ options, Some("eu-west-1"))

  private val orders = StreamRef.ByName(StreamName("orders"))

  private def startOf(options: SourceOptions): Any = {
    val start = options.queryStart(orders)
    if (start.named.isEmpty) start.others else start
  }

  private def at(text: String) = Position.AtTimestamp(Instant.parse(text))

  private val values = Table[String, String, SourceOptions => Any, Any](
    ("option", "value", "read as", "is"),
    ("streamName", "refunds", _.names, "refunds"),
    ("streamName", "orders,refunds", _.names, "orders, refunds"),
    ("allowStreamRemoval", "true", _.allowStreamRemoval, true),
    ("startingPosition", "latest", startOf, Position.Latest),
    ("STARTINGPOSITION", "LATEST", startOf, Position.Latest),
    ("startingPosition", "trim_horizon", startOf, Position.TrimHorizon),
    ("startingPosition", "earliest", startOf, Position.TrimHorizon),
    ("startingPosition", "2026-11-21T08:00:00Z", startOf, at("2026-11-21T08:00:00Z")),
    ("startingPosition", "2026-11-21T08:00:00.0000001Z", startOf, at("2026-11-21T08:00:00.001Z")),
    ("startingPosition", "2026-11-21T08:00:00.5+02:00", startOf, at("2026-11-21T06:00:00.500Z")),
    ("endingPosition", "latest", _.batchEnd(orders).others, Position.Latest),
    (
      "endingPosition",
      "2026-11-21T08:00:00Z",
      _.batchEnd(orders).others,
      Position.AtTimestamp(Instant.parse("2026-11-21T08:00:00Z"))
    ),
    ("kinesis.startingPosition", "2026-11-21T08:00:00Z", startOf, at("2026-11-21T08:00:00Z")),
    ("maxRecordsPerTrigger", "7", _.fetch.limits, ReadLimits(Some(7), None)),
    ("maxBytesPerTrigger", "1m", _.fetch.limits, ReadLimits(None, Some(1 << 20))),
    ("failOnDataLoss", "False", _.failOnDataLoss, false),
    ("deaggregate", "false", _.deaggregate, false),
    ("maxRecordsPerFetch", "10000", _.fetch.reads.maxRecords, 10000),
    ("minFetchPeriod", "300ms", _.fetch.reads.minPeriod, 300.millis),
    ("idleFetchPeriod", "5s", _.fetch.reads.idlePeriod, 5.seconds),
    ("fetchBufferSize", "64m", _.fetch.bufferBytes, Some(64L << 20)),
    ("fetchSpillSize", "64m", _.fetch.spillBytes, 64L << 20),
    ("fetchSpillSize", "0", _.fetch.spillBytes, 0L),
    ("maxShardSkew", "10m", _.fetch.maxShardSkew, Some(10.minutes)),
    ("maxShardSkew", "None", _.withWatermarks(Seq(10.minutes)).fetch.maxShardSkew, None),
    ("shardDiscoveryInterval", "1s", _.discoveryInterval, 1.second),
    ("shardDiscoveryInterval", "1h", _.discoveryInterval, 1.hour),
    ("checkpointLocation", "/c", _.names, "orders")
  )

  test("each option is parsed, with its name in any case") {
    forAll(values)((name, value, read, expected) => assert(read(parse(name -> value)) === expected))
  }

  test("the defaults of all options") {
    val options = parse()
    val fetch =
      FetchSettings(
        ReadSettings(10000, 200.millis, 1.second),
        bufferBytes = None,
        spillBytes = 4L << 30,
        limits = ReadLimits.None
      )
    assert(
      !options.allowStreamRemoval && startOf(
        options
      ) === Position.Latest && options.fetch === fetch
    )
    assert(options.batchStart(orders) === ByShard(Position.TrimHorizon))
    assert(options.batchEnd(orders) === ByShard(Position.Latest))
    assert(options.streams.head.client.region === "eu-west-1" && options.deaggregate)
    assert(options.discoveryInterval === 10.seconds)
  }

  test(
    "shards advance together by half of the smallest delay of a watermark, or as the option says"
  ) {
    def skew(options: SourceOptions, delays: FiniteDuration*) =
      options.withWatermarks(delays).fetch.maxShardSkew
    assert(skew(parse()) === None)
    assert(skew(parse(), 2.hours, 10.seconds) === Some(5.seconds))
    assert(skew(parse(), Duration.Zero) === Some(1.second))
    assert(skew(parse("maxShardSkew" -> "1m"), 10.seconds) === Some(1.minute))
    // A quiet shard is asked often enough, so that it does not delay the others.
    val rare = parse("idleFetchPeriod" -> "1m")
    assert(rare.fetch.ahead.idlePeriod === 1.minute)
    assert(rare.withWatermarks(Seq(10.seconds)).fetch.ahead.idlePeriod === 2500.millis)
    assert(rare.withWatermarks(Seq(10.seconds)).fetch.ahead.renewal === 2500.millis)
  }

  private val refused = Table(
    ("option", "value", "condition", "message holds"),
    ("startingPosition", "newest", InvalidOption, "latest, trim_horizon, or an instant"),
    ("startingPosition", "2026-11-21T08:00:00", InvalidOption, "needs its time zone"),
    ("startingPosition", "2026-11-21", InvalidOption, "needs its time zone"),
    ("startingPosition", "1700000000000", InvalidOption, "an instant"),
    ("startingPosition", "AT_TIMESTAMP 2026-11-21T08:00:00Z", InvalidOption, "the instant alone"),
    ("startingPosition", " ", InvalidOption, "a value"),
    ("endingPosition", "trim_horizon", InvalidOption, "latest, or an instant"),
    ("maxRecordsPerTrigger", "0", InvalidOption, "a whole number from 1"),
    ("maxRecordsPerTrigger", "1e6", InvalidOption, "a whole number from 1"),
    ("maxBytesPerTrigger", "10mb", InvalidOption, "a size above zero"),
    ("failOnDataLoss", "no", InvalidOption, "true or false"),
    ("maxRecordsPerFetch", "10001", InvalidOption, "1 to 10000"),
    ("maxRecordsPerFetch", "-1", InvalidOption, "a whole number from 1"),
    ("minFetchPeriod", "200", InvalidOption, "a duration above zero"),
    ("idleFetchPeriod", "0s", InvalidOption, "a duration above zero"),
    ("fetchBufferSize", "0", InvalidOption, "a size above zero"),
    ("maxShardSkew", "999ms", InvalidOption, "of at least 1s"),
    ("shardDiscoveryInterval", "999ms", InvalidOption, "of at least 1s"),
    ("shardDiscoveryInterval", "61m", InvalidOption, "at most 1h"),
    ("streamName", "a b", InvalidOption, "1 to 128"),
    ("startingPositon", "latest", UnknownOption, "Did you mean 'startingPosition'?"),
    ("maxFetchRate", "1.0", UnknownOption, "increase 'minFetchPeriod'"),
    (
      "deliveryTimeout",
      "5m",
      UnknownOption,
      "There is no option 'deliveryTimeout'."
    ), // a sink's
    ("kafka.bootstrap.servers", "h:1", UnknownOption, "The options are:")
  )

  test(
    "invalid and unknown options are refused, and the error has the name, and any invalid value"
  ) {
    forAll(refused) { (name, value, condition, text) =>
      val e = intercept[OptionException](parse(name -> value))
      assert(e.condition === condition)
      assert(e.getMessage.contains(s"'$name'") && e.getMessage.contains(text))
      assert(condition == UnknownOption || value.isBlank || e.getMessage.contains(s"'$value'"))
    }
  }

  test("nothing that prints the options prints a secret") {
    val secrets = Seq("awsAccessKeyId", "awsSecretAccessKey", "awsSessionToken").map(_ -> "hush")
    assert(!parse(secrets: _*).toString.contains("hush"))
  }

  test("the options that need micro-batches, by name") {
    val others =
      Seq("maxPartitions" -> "4", "maxRecordsPerFetch" -> "100", "failOnDataLoss" -> "false")
    assert(parse(others: _*).onlyInMicroBatches === Nil)
    val limits = Seq(
      "maxRecordsPerTrigger" -> "1",
      "maxBytesPerTrigger" -> "1k",
      "minPartitions" -> "4",
      "maxShardSkew" -> "1m"
    )
    assert(parse(others ++ limits: _*).onlyInMicroBatches === limits.map(_._1))
    limits.foreach(one => assert(parse(one).onlyInMicroBatches === Seq(one._1)))
  }

  test("the number of tasks has bounds that may be equal") {
    val options = parse("minPartitions" -> "4", "maxPartitions" -> "4")
    assert((options.minPartitions, options.maxPartitions) === (Some(4) -> Some(4)))
  }
}
