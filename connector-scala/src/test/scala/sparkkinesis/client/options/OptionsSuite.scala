package sparkkinesis.client.options

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

class OptionsSuite extends AnyFunSuite {
  private def options(value: String) = Options.parse(Map("X" -> value), Seq("x"))

  private val values = Table[String, Options => Option[Any], Any](
    ("given", "read as", "is"),
    (" a b ", _.text("x"), "a b"),
    ("TRUE", _.boolean("X"), true),
    ("false", _.boolean("x"), false),
    ("7", _.positiveInt("x"), 7),
    ("5000000000", _.positiveLong("x"), 5000000000L),
    ("200ms", _.duration("x"), 200.millis),
    ("10s", _.duration("x"), 10.seconds),
    ("5M", _.duration("x"), 5.minutes),
    ("1h", _.duration("x"), 1.hour),
    ("8760h", _.duration("x"), 365.days),
    ("31536000000ms", _.duration("x"), 365.days),
    ("64m", _.size("x"), 64L << 20),
    ("1G", _.size("x"), 1L << 30),
    ("3k", _.size("x"), 3072L),
    ("1024", _.size("x"), 1024L),
    ("1048576g", _.size("x"), 1L << 50)
  )

  test("values are parsed by type, and names are accepted in any case") {
    forAll(values)((text, read, expected) => assert(read(options(text)) === Some(expected)))
    assert(Options.parse(Map.empty, Seq("x")).text("x") === None)
  }

  private val refused = Table[String, Options => Option[Any], String](
    ("given", "read as", "expected"),
    ("  ", _.text("x"), "a value"),
    ("yes", _.boolean("x"), "true or false"),
    ("0", _.positiveInt("x"), "a whole number from 1"),
    ("-1", _.positiveInt("x"), "a whole number from 1"),
    ("3000000000", _.positiveInt("x"), "a whole number from 1"),
    ("1e3", _.positiveLong("x"), "a whole number from 1"),
    ("10", _.duration("x"), "a duration above zero"),
    ("10 s", _.duration("x"), "a duration above zero"),
    ("0s", _.duration("x"), "a duration above zero"),
    ("99999999999s", _.duration("x"), "a duration above zero"),
    ("8761h", _.duration("x"), "a duration above zero"),
    ("99999999999999999999ms", _.duration("x"), "a duration above zero"),
    ("64mb", _.size("x"), "a size above zero"),
    ("0", _.size("x"), "a size above zero"),
    ("1.5g", _.size("x"), "a size above zero"),
    ("1048577g", _.size("x"), "a size above zero"),
    ("999999999999g", _.size("x"), "a size above zero"),
    ("99999999999999999999", _.size("x"), "a size above zero")
  )

  test("a value of the wrong type is refused with option, value and remedy") {
    forAll(refused) { (text, read, expected) =>
      val e = intercept[OptionException](read(options(text)))
      assert(e.condition === OptionException.InvalidOption)
      assert(e.getMessage.startsWith(s"Option 'x' is '$text': expected $expected"))
      assert(e.getMessage.matches(".*: expected [^.]*(\\.\\S[^.]*)*\\. [A-Z].*\\."))
    }
  }

  private val unknown = Table(
    ("given", "message holds"),
    ("streamNmae", "Did you mean 'streamName'?"),
    ("kinesis.streamNmae", "Did you mean 'streamName'?"),
    ("completelyDifferent", "The options are: awsSecretAccessKey, endpoint")
  )

  test("an unknown option is refused with the closest known name, and never with its value") {
    val known = Seq("streamName", "startingPosition", "endpoint", "awsSecretAccessKey")
    forAll(unknown) { (name, hint) =>
      val e = intercept[OptionException](Options.parse(Map(name -> "hush"), known))
      assert(e.condition === OptionException.UnknownOption)
      assert(e.getMessage.contains(s"'$name'") && e.getMessage.contains(hint))
      assert(!e.getMessage.contains("hush"))
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
    val options = Options.parse(Map("AWSSECRETACCESSKEY" -> "hush"), ConnectionOptions.Names)
    val e = options.invalid("awsSecretAccessKey", "better", "Correct it.")
    assert(e.getMessage === "Option 'awsSecretAccessKey' is '***': expected better. Correct it.")
    assert(!options.toString.contains("hush"))
  }
}
