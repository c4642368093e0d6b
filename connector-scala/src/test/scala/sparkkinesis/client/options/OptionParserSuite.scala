package sparkkinesis.client.options

import java.util.Locale

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import sparkkinesis.client.options.OptionException._

class OptionParserSuite extends AnyFunSuite {
  private val (same, different) = ForeignOptions.All.partition(_.counterpart.nonEmpty)

  /** All our options that the table names. */
  private val known = {
    val quoted = "'(\\w+)'".r.findAllMatchIn(different.map(_.remedy).mkString).map(_.group(1))
    (same.flatMap(_.counterpart) ++ quoted).distinct
  }

  private def parse(options: (String, String)*) = Options.parse(options.toMap, known)

  private def refused(options: (String, String)*) =
    intercept[OptionException](parse(options: _*))

  private def spellings(name: String) =
    Seq(name, name.toUpperCase(Locale.ROOT), s"kinesis.$name", s"KINESIS.$name")

  test("a name with the same meaning is accepted, in any case, with or without the prefix") {
    val names =
      for (
        option <- same; ours <- option.counterpart.toSeq if known.contains(ours);
        name <- option.names
      )
        yield name -> ours
    assert(names.size > 10)
    for ((name, ours) <- names ++ known.map(name => name -> name); spelt <- spellings(name))
      assert(parse(spelt -> "x").text(ours) === Some("x"), spelt)
  }

  test("a name with another meaning is refused with a remedy") {
    for (option <- different; name <- option.names; spelt <- spellings(name)) {
      val e = refused(spelt -> "hush")
      assert(e.condition === UnknownOption)
      assert(e.getMessage === s"There is no option '$spelt'. ${option.remedy}")
    }
  }

  test("every remedy names only options that exist here") {
    val options = ForeignOptions.All.flatMap(_.names).map { name =>
      intercept[OptionException](Options.parse(Map(name -> "x"), Seq("profile"))).getMessage
    }
    val others = known.filterNot(_ == "profile").map(ours => s"'$ours'")
    options.foreach(message => assert(!others.exists(message.contains), message))
  }

  test("no name is in the table twice, and none is one of our own") {
    val names = ForeignOptions.All.flatMap(_.names).map(OptionNames.normalized)
    assert(names.diff(names.distinct) === Nil)
    assert(names.intersect(known.map(OptionNames.normalized)) === Nil)
  }

  private val twice = Table(
    ("one", "other", "message"),
    (
      "endpoint",
      "endpointUrl",
      "Options 'endpoint' and 'endpointUrl' both mean 'endpoint'."
    ),
    ("endpoint", "ENDPOINT", "Options 'ENDPOINT' and 'endpoint' both mean 'endpoint'."),
    (
      "stsRoleArn",
      "awsSTSRoleARN",
      "Options 'awsSTSRoleARN' and 'stsRoleArn' both mean 'roleArn'."
    ),
    (
      "kinesis.region",
      "kinesis.kinesisRegion",
      "Options 'kinesis.kinesisRegion' and 'kinesis.region' both mean 'region'."
    )
  )

  test("an option given by two names, or in two cases, is refused, and the error has both names") {
    forAll(twice) { (one, other, message) =>
      val e = refused(one -> "hush", other -> "hush")
      assert(e.condition === ConflictingOptions)
      assert(e.getMessage === s"$message Set only one of them.")
    }
  }

  test("the error for an invalid value has the name that the user wrote, and ours") {
    val e = intercept[OptionException](parse("maxOffsetsPerTrigger" -> "0").positiveLong {
      "maxRecordsPerTrigger"
    })
    assert(
      e.getMessage.startsWith("Option 'maxOffsetsPerTrigger' ('maxRecordsPerTrigger' here) is '0'")
    )
  }

  test("the error for a number of milliseconds shows it as the user wrote it") {
    val period = parse("kinesis.getRecords.fetchIntervalMs" -> "250")
    assert(period.duration("minFetchPeriod").map(_.toMillis) === Some(250))
    val e = intercept[OptionException](
      parse("kinesis.getRecords.fetchIntervalMs" -> "0").duration("minFetchPeriod")
    )
    assert(
      e.getMessage.contains("'kinesis.getRecords.fetchIntervalMs' ('minFetchPeriod' here) is '0'")
    )
  }

  test("a secret is masked under any name") {
    val secrets = Seq(
      "awsAccessKey" -> "awsAccessKeyId",
      "awsSecretKey" -> "awsSecretAccessKey",
      "kinesis.sessionToken" -> "awsSessionToken"
    )
    secrets.foreach { case (name, ours) =>
      val options = Options.parse(Map(name -> "hush"), ConnectionOptions.Names)
      val e = options.invalid(ours, "better", "Correct it.")
      assert(
        e.getMessage === s"Option '$name' ('$ours' here) is '***': expected better. Correct it."
      )
      assert(!options.toString.contains("hush") && options.toString.contains(name))
    }
  }

  private val positions = Table(
    ("written", "read"),
    ("AT_TIMESTAMP 2023-08-30T19:00:05Z", "2023-08-30T19:00:05Z"),
    ("at_timestamp  2023-08-30T19:00:05-08:00", "2023-08-30T19:00:05-08:00"),
    ("""{"at_timestamp": "2023-08-30T19:00:05Z"}""", "2023-08-30T19:00:05Z"),
    (""" { "at_timestamp" : "2023-08-30T19:00:05Z" } """, "2023-08-30T19:00:05Z"),
    ("TRIM_HORIZON", "TRIM_HORIZON"),
    ("AT_TIMESTAMP", "AT_TIMESTAMP"),
    ("""{"orders": "latest"}""", """{"orders": "latest"}"""),
    ("""{"a": {"at_timestamp": "x"}}""", """{"a": {"at_timestamp": "x"}}""")
  )

  test(
    "instants in another connector's format are parsed, and all other values are left to our parser"
  ) {
    for (name <- Seq("startingPosition", "initialPosition", "kinesis.startingPosition"))
      forAll(positions) { (written, read) =>
        assert(parse(name -> written).text("startingPosition") === Some(read))
      }
  }

  private val unreadable = Table(
    ("written", "remedy"),
    (
      """{"at_timestamp": "06/25/2020 10:23:45 PDT", "format": "MM/dd/yyyy HH:mm:ss ZZZ"}""",
      "Write the instant with its time zone and without a format."
    ),
    (
      """{"format": "yyyy", "at_timestamp": "2026"}""",
      "Write the instant with its time zone and without a format."
    ),
    (
      """{"shardId-000000000001":{"iteratorType":"AT_TIMESTAMP","iteratorPosition":"1"}}""",
      "The connector cannot read a position from the checkpoint of another connector."
    )
  )

  test("the error for an ambiguous position shows it as the user wrote it") {
    forAll(unreadable) { (written, remedy) =>
      val e = refused("initialPosition" -> written)
      assert(e.condition === InvalidOption)
      assert(
        e.getMessage === s"Option 'initialPosition' ('startingPosition' here) is '$written': " +
          s"expected an instant such as 2026-11-21T08:00:00Z. $remedy"
      )
    }
  }

  test("the values of consumerType are translated") {
    def mode(value: String) = parse("kinesis.consumerType" -> value).text("consumerMode")
    assert(mode("GetRecords") === Some("polling") && mode("SubscribeToShard") === Some("efo"))
  }

  test("the values of the sink's options are translated") {
    def written(name: String, value: String, ours: String) =
      Options.parse(Map(name -> value), Seq("aggregation", "linger")).text(ours)
    Seq("sink", "executor").foreach { of =>
      assert(written(s"$of.aggregationEnabled", "TRUE", "aggregation") === Some("kpl"))
      assert(written(s"kinesis.$of.aggregationEnabled", "false", "aggregation") === Some("none"))
    }
    assert(written("kinesis.sink.recordMaxBufferedTimeMs", "250", "linger") === Some("250ms"))
    assert(written("executor.recordMaxBufferedTime", "1000", "linger") === Some("1000ms"))
  }
}
