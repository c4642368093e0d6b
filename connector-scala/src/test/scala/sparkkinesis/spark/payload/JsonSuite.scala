package sparkkinesis.spark.payload

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Properties

class JsonSuite extends AnyFunSuite with Properties {
  import JsonSuite._

  test("objects with anything blank between them come apart as they were written") {
    forAll(Gen.nonEmptyListOf(Gen.zip(jsonObject, blank))) { pairs =>
      val text = pairs.map { case (json, space) => json + space }.mkString
      assert(Json.split(text.getBytes("UTF-8")) === pairs.map(it => Right(it._1)))
    }
  }

  test("what follows the objects is one reason, which says where it begins") {
    forAll(Gen.listOf(jsonObject), Gen.oneOf("x", "[1]", "{", "{\"a\":}", "\"{}\"", "null", "1")) {
      (objects, rest) =>
        val start = objects.mkString.length + 1
        val found = Json.split((objects.mkString + rest).getBytes("UTF-8"))
        assert(found === objects.map(Right(_)) :+ Left(s"NOT_JSON: from character $start"))
    }
  }

  test("a cut record gives the objects before the cut, and a reason for the rest") {
    forAll(Gen.nonEmptyListOf(jsonObject), Gen.choose(0.0, 1.0)) { (objects, part) =>
      val text = objects.mkString
      val end = (text.length * part).toInt
      val found = Json.split(text.take(end).getBytes("UTF-8"))
      val whole = objects.scanLeft("")(_ + _).tail.count(_.length <= end)
      assert(found.take(whole) === objects.take(whole).map(Right(_)))
      assert(found.drop(whole).forall(_.isLeft))
      val isCut = !objects.scanLeft(0)(_ + _.length).contains(end)
      assert(found.size === whole + (if (isCut || whole == 0) 1 else 0))
    }
  }

  test("100,000 objects are enough, and what follows them is one reason") {
    val most = 100000
    assert(Json.split(("{}" * most).getBytes) === Seq.fill(most)(Right("{}")))
    val reason = Left(s"TOO_MANY: more than $most objects")
    assert(Json.split(("{}" * (most + 9)).getBytes).drop(most) === Seq(reason))
  }

  test("a number with millions of zeros is too large, and other numbers are not") {
    val good = """{"a":[1e308,-1.5E-300,{"b":1e+999}],"c":"1e600000000"}"""
    val found = Json.split((good + """{"a":1e600000000}""" + good).getBytes)
    val place = good.length + """{"a":""".length + 1
    assert(found === Seq(Right(good), Left(s"TOO_LARGE: the number at character $place")))
  }

  test("nothing, other encodings and damaged text have a reason") {
    Seq("", " \n ").foreach(it => assert(Json.split(it.getBytes) === Seq(Left("EMPTY"))))
    val latin1 = "{\"name\":\"Zürich\"}".getBytes("ISO-8859-1")
    assert(Json.split(latin1) === Seq(Left("NOT_UTF8")))
    Seq("UTF-16", "UTF-16LE", "UTF-32").foreach { it =>
      assert(Json.split("{\"id\":1}".getBytes(it)).forall(_.isLeft))
    }
  }

  test("an item of DynamoDB becomes plain JSON, and keeps each value") {
    forAll(item) { case (typed, plain) =>
      val record = s"""{"eventName":"INSERT","dynamodb":{"NewImage":$typed}}"""
      val expected = s"""{"eventName":"INSERT","dynamodb":{"NewImage":$plain}}"""
      assert(Json.ofDynamoDb(record).map(mapper.readTree) === Right(mapper.readTree(expected)))
    }
  }

  test("numbers of DynamoDB keep all their digits") {
    Seq("12345678901234567890123456789012345678", "-0.1", "1E-130", "63.06").foreach { number =>
      val found = Json.ofDynamoDb(s"""{"dynamodb":{"Keys":{"n":{"N":"$number"}}}}""")
      assert(found === Right(s"""{"dynamodb":{"Keys":{"n":$number}}}"""))
    }
  }

  test("what is no change of a table has a reason") {
    val numbers = Seq("1" * 201, "1E131", "1E-132", "1E600000000", "1E-2147483648", "NaN", "1 ")
    val wrong = numbers.map(it => s"""{"a":{"N":"$it"}}""")
    val items =
      wrong ++ Seq("1", "{\"a\":1}", "{\"a\":{\"X\":1}}", "{\"a\":{\"N\":\"one\"}}", "{\"a\":{}}")
    val records = items.map(it => s"""{"dynamodb":{"NewImage":$it}}""")
    val change = """{"dynamodb":{"Keys":{}}}"""
    assert(Json.ofDynamoDb(change) === Right(change))
    (records ++ Seq(change + change, change + "x", "{}", "[]", "1", "{", "", "{\"dynamodb\":1}"))
      .foreach { record =>
        assert(Json.ofDynamoDb(record) === Left("NOT_DYNAMODB"), record)
      }
  }
}

object JsonSuite {
  private val mapper = new ObjectMapper

  private val blank = Gen.oneOf("", "\n", "\r\n", " ", "\t\n ")

  private val string = Arbitrary.arbitrary[String].map { text =>
    mapper.writeValueAsString(text.filterNot(_.isSurrogate))
  }

  /** Also with what looks like the end of an object, and the begin of the next one. */
  private val value: Gen[String] = Gen.oneOf(
    string,
    Gen.oneOf("\"}{\"", "\"\\\"}\\n{\"", "null", "true", "-1.5e3", "[{},[]]", "{\"a\":{}}"),
    Arbitrary.arbitrary[Long].map(_.toString)
  )

  private val jsonObject: Gen[String] = Gen
    .listOf(Gen.zip(string, blank, value))
    .map(_.map { case (name, space, it) => s"$name:$space$it" }.mkString("{", ",", "}"))

  /** A typed attribute, and the same value as plain JSON. */
  private def attribute(depth: Int): Gen[(String, String)] = {
    val number = Gen.zip(Arbitrary.arbitrary[Long], Gen.choose(-110, 125)).map {
      case (digits, scale) => java.math.BigDecimal.valueOf(digits, scale).toPlainString
    }
    val simple = Gen.oneOf(
      string.map(it => s"""{"S":$it}""" -> it),
      number.map(it => s"""{"N":"$it"}""" -> it),
      Gen.oneOf(true, false).map(it => s"""{"BOOL":$it}""" -> it.toString),
      Gen.const("""{"NULL":true}""" -> "null"),
      Gen.const("""{"B":"aGk="}""" -> "\"aGk=\""),
      Gen.listOf(string).map(_.mkString("[", ",", "]")).map(it => s"""{"SS":$it}""" -> it),
      Gen
        .listOf(number)
        .map { all =>
          s"""{"NS":${all.mkString("[\"", "\",\"", "\"]")}}""" -> all.mkString("[", ",", "]")
        }
        .suchThat(_._2 != "[]")
    )
    if (depth == 0) simple
    else
      Gen.oneOf(
        simple,
        item(depth - 1).map { case (typed, plain) => s"""{"M":$typed}""" -> plain },
        Gen.listOfN(2, attribute(depth - 1)).map { all =>
          s"""{"L":${all.map(_._1).mkString("[", ",", "]")}}""" ->
            all.map(_._2).mkString("[", ",", "]")
        }
      )
  }

  private def item(depth: Int): Gen[(String, String)] =
    Gen.listOfN(3, attribute(depth)).map { all =>
      val names = Seq("a", "b", "c")
      def joined(values: Seq[String]) =
        names.zip(values).map { case (name, it) => s""""$name":$it""" }.mkString("{", ",", "}")
      joined(all.map(_._1)) -> joined(all.map(_._2))
    }

  private val item: Gen[(String, String)] = item(2)
}
