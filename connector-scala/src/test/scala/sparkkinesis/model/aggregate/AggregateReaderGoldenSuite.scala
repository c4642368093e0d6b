package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.KplAggregates.SubRecord
import sparkkinesis.model.{HashKey, PutEntry, ServiceLimits}
import sparkkinesis.{KplAggregates, Repository}

/** `tests/golden/kpl`: what other people's programs aggregate, and what was put in. */
class AggregateReaderGoldenSuite extends AnyFunSuite {
  private val directory = Repository.root.resolve("tests/golden/kpl")
  private val cases = new ObjectMapper().readTree(directory.resolve("records.json").toFile)

  private def records(name: String): Vector[SubRecord] =
    cases.get(name).asScala.toVector.map { it =>
      def text(member: String) = Option(it.get(member)).filterNot(_.isNull).map(_.textValue)
      SubRecord(
        text("partitionKey").get,
        it.get("data").binaryValue.toVector,
        text("explicitHashKey")
      )
    }

  private def golden(name: String): Array[Byte] =
    Files.readAllBytes(directory.resolve(s"$name.bin"))

  for (name <- cases.fieldNames.asScala.toVector) {
    test(s"$name: the records that were put in are read") {
      assert(SubRecords.read(golden(name)) === records(name))
    }

    test(s"$name: our builder makes the same bytes, if there is more than one record") {
      val builder = new AggregateBuilder(ServiceLimits.RecordBytes)
      records(name).foreach { it =>
        val hashKey = it.explicitHashKey.flatMap(HashKey.parse)
        builder.add(PutEntry(it.partitionKey, it.data.toArray, hashKey))
      }
      val isAlone = records(name).size == 1
      val expected = if (isAlone) records(name).head.data else golden(name).toVector
      assert(builder.result().data.toVector === expected)
    }

    test(s"$name: our tests' own producer makes the same bytes") {
      assert(KplAggregates(records(name)).toSeq === golden(name).toSeq)
    }
  }

  test("an aggregate of the Kinesis Producer Library itself is read, and we build the same one") {
    val file = Repository.root.resolve("tests/golden/payloads/kpl.json").toFile
    val golden = new ObjectMapper().readTree(file)
    val records = golden.get("records").asScala.toVector.map { it =>
      val hashKey = it.get("explicitHashKey").textValue
      val data = it.get("data").textValue.getBytes(UTF_8).toVector
      SubRecord(it.get("partitionKey").textValue, data, Option(hashKey).filter(_.nonEmpty))
    }
    val aggregate = golden.get("aggregate").get("data").binaryValue
    assert(SubRecords.read(aggregate) === records)
    val builder = new AggregateBuilder(ServiceLimits.RecordBytes)
    records.foreach { it =>
      val hashKey = it.explicitHashKey.flatMap(HashKey.parse)
      builder.add(PutEntry(it.partitionKey, it.data.toArray, hashKey))
    }
    assert(builder.result().data.toVector === aggregate.toVector)
  }

  test("the golden file has cases for each part of the format") {
    val all = cases.properties.asScala.toVector.flatMap(entry => records(entry.getKey))
    assert(all.exists(_.explicitHashKey.isDefined) && all.exists(_.data.isEmpty))
    assert(all.map(_.partitionKey).distinct.size > 128) // an index of two bytes
  }
}
