package sparkkinesis.client.options

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import sparkkinesis.client.options.OptionType._

class OptionsSuite extends AnyFunSuite {
  private def read[A](value: String, kind: OptionType[A]): Option[A] = {
    val x = new OptionSpec("x", kind, "", "")
    Options.parse(Map("X" -> value), Seq(x)).get(x)
  }

  private val values = Table[String, OptionType[_], Any](
    ("given", "type", "is"),
    (" a b ", text, "a b"),
    ("a, b", texts, Seq("a", "b")),
    ("TRUE", boolean, true),
    ("false", boolean, false),
    ("7", number(), 7),
    ("5000000000", long, 5000000000L),
    ("200ms", duration(), 200.millis),
    ("10s", duration(), 10.seconds),
    ("5M", duration(), 5.minutes),
    ("1h", duration(), 1.hour),
    ("8760h", duration(), 365.days),
    ("31536000000ms", duration(), 365.days),
    ("None", duration().or("none"), None),
    ("1s", duration().or("none"), Some(1.second)),
    ("64m", size(), 64L << 20),
    ("1G", size(), 1L << 30),
    ("3k", size(), 3072L),
    ("1024", size(), 1024L),
    ("0", size(least = 0), 0L),
    ("1048576g", size(), 1L << 50),
    ("PERKEY", word("none", "perKey"), "perKey")
  )

  test("values are parsed by type, and names are accepted in any case") {
    forAll(values)((text, kind, expected) => assert(read(text, kind) === Some(expected)))
    assert(Options.parse(Map.empty, ConnectionTable.all).get(ConnectionTable.Region) === None)
  }

  test("a value is shown as a user writes it") {
    def check[A](kind: OptionType[A], value: A, text: String): Unit = {
      assert(kind.show(value) === text)
      assert(kind.read(text) === Some(value))
    }
    check(duration(), 10.seconds, "10s")
    check(duration(), 90.seconds, "90s")
    check(duration(), 60.minutes, "1h")
    check(duration().or("none"), None, "none")
    check(size(), 64L << 20, "64m")
    check(size(), 1500L, "1500")
    check(size(least = 0), 0L, "0")
  }

  private val refused = Table[String, OptionType[_], String](
    ("given", "type", "expected"),
    ("  ", text, "a value"),
    ("a,,b", texts, "a value before and after each comma"),
    ("yes", boolean, "true or false"),
    ("0", number(), "a whole number from 1 to 2147483647"),
    ("-1", number(), "a whole number from 1"),
    ("3000000000", number(), "a whole number from 1"),
    ("11", number(10), "a whole number from 1 to 10"),
    ("1e3", long, "a whole number from 1"),
    ("10", duration(), "a duration above zero such as 200ms, 10s, 5m or 1h, at most 8760h"),
    ("10 s", duration(), "a duration above zero"),
    ("0s", duration(), "a duration above zero"),
    ("99999999999s", duration(), "a duration above zero"),
    ("8761h", duration(), "a duration above zero"),
    ("99999999999999999999ms", duration(), "a duration above zero"),
    ("31s", duration(1.second, 30.seconds), "a duration of at least 1s such as 10s, at most 30s"),
    ("some", duration().or("none"), "a duration above zero"),
    ("64mb", size(), "a size above zero such as 512k, 64m or 1g, at most 1048576g"),
    ("0", size(), "a size above zero"),
    ("1.5g", size(), "a size above zero"),
    ("1048577g", size(), "a size above zero"),
    ("999999999999g", size(), "a size above zero"),
    ("99999999999999999999", size(), "a size above zero"),
    ("-1", size(least = 0), "0 or a size"),
    ("all", word("none", "some"), "none or some")
  )

  test("a value of the wrong type is refused with option, value and remedy") {
    forAll(refused) { (text, kind, expected) =>
      val e = intercept[OptionException](read(text, kind))
      assert(e.condition === OptionException.InvalidOption)
      assert(e.getMessage.startsWith(s"Option 'x' is '$text': expected $expected"))
      assert(e.getMessage.matches(".*: expected [^.]*(\\.\\S[^.]*)*\\. [A-Z].*\\."))
    }
  }

  private val known =
    Seq("streamName", "startingPosition", "endpoint", "awsSecretAccessKey").map {
      new OptionSpec(_, text, "", "")
    }

  private val unknown = Table(
    ("given", "message holds"),
    ("streamNmae", "Did you mean 'streamName'?"),
    ("kinesis.streamNmae", "Did you mean 'streamName'?"),
    ("completelyDifferent", "The options are: awsSecretAccessKey, endpoint")
  )

  test("an unknown option is refused with the closest known name, and never with its value") {
    forAll(unknown) { (name, hint) =>
      val e = intercept[OptionException](Options.parse(Map(name -> "hush"), known))
      assert(e.condition === OptionException.UnknownOption)
      assert(e.getMessage.contains(s"'$name'") && e.getMessage.contains(hint))
      assert(!e.getMessage.contains("hush"))
    }
  }

  test("the prefix kinesis. is accepted, and an option under two names is refused with both") {
    Seq("endpoint", "ENDPOINT", "kinesis.endpoint", "KINESIS.ENDPOINT").foreach { name =>
      assert(Options.parse(Map(name -> "x"), known).get(known(2)) === Some("x"))
    }
    val e = intercept[OptionException] {
      Options.parse(Map("kinesis.endpoint" -> "hush", "ENDPOINT" -> "hush"), known)
    }
    assert(e.condition === OptionException.ConflictingOptions)
    assert(
      e.getMessage === "Options 'ENDPOINT' and 'kinesis.endpoint' both mean 'endpoint'. Set only " +
        "one of them."
    )
  }

  test("an option without what it needs is refused, and any of several needs will do") {
    val other = new OptionSpec("x", text, "", "")
    val needy = new OptionSpec("y", text, "", "", needs = Seq("x=a", "z"))
    val options = Seq(other, needy, new OptionSpec("z", text, "", ""))
    Seq("x" -> " A", "z" -> "b").foreach(it => Options.parse(Map("y" -> "1", it), options))
    Seq(Map("y" -> "1"), Map("y" -> "1", "x" -> "b")).foreach { set =>
      val e = intercept[OptionException](Options.parse(set, options))
      assert(e.condition === OptionException.MissingOption)
      assert(
        e.getMessage === "Option 'y' has no effect without 'x=a' or 'z'. Set both options, or " +
          "remove this one."
      )
    }
  }

  test("options that Spark adds by itself are accepted") {
    OptionNames.Spark.foreach(name => Options.parse(Map(name.toUpperCase -> "v"), Nil))
  }

  test("the edit distance of two names") {
    assert(OptionNames.distance("kitten", "sitting") === 3)
    assert(OptionNames.distance("", "abc") === 3)
    assert(OptionNames.distance("abc", "") === 3)
    assert(OptionNames.distance("same", "same") === 0)
  }

  test("no error message contains the value of a secret") {
    val options = Options.parse(Map("AWSSECRETACCESSKEY" -> "hush"), ConnectionTable.all)
    val e = options.invalid(ConnectionTable.AwsSecretAccessKey, "better", "Correct it.")
    assert(e.getMessage === "Option 'awsSecretAccessKey' is '***': expected better. Correct it.")
    assert(!options.toString.contains("hush"))
  }
}
