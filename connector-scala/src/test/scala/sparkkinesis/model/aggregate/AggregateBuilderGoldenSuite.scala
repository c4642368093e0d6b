package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.{HashKey, PutEntry, ServiceLimits}
import sparkkinesis.{KplAggregates, Repository}

/**
 * `tests/golden/kpl/built.json` has the input and the aggregate of each case. The tests in Python
 * read the aggregates with another reader. The Kinesis Client Library 3.1.0 (AggregatorUtil) read
 * them, too.
 */
class AggregateBuilderGoldenSuite extends AnyFunSuite {
  private val file = Repository.root.resolve("tests/golden/kpl/built.json")
  private val json = new ObjectMapper()

  private def entry(key: String, data: Array[Byte], hashKey: Option[HashKey] = None) =
    PutEntry(key, data, hashKey)

  private def bytes(length: Int) = Array.tabulate(length)(i => (i * 31).toByte)

  private val nested = KplAggregates(
    Seq("first", "second").map(text => KplAggregates.SubRecord("in", text.getBytes.toVector))
  )

  private val cases: Seq[(String, Seq[PutEntry])] = Seq(
    "alone" -> Seq(entry("customer 1", "alone".getBytes, Some(HashKey(7)))),
    "two" -> Seq(entry("customer 1", "first".getBytes), entry("customer 1", "second".getBytes)),
    "keys" -> Seq("customer 1", "ключ", "🔑" * 256, "k" * 127, "k" * 128, "customer 1")
      .map(key => entry(key, key.take(9).getBytes(UTF_8))),
    "some hash keys" -> Seq(None, Some(HashKey.Max), Some(HashKey.Min), None, Some(HashKey.Max))
      .map(entry("customer 1", "data".getBytes, _)),
    "hash keys" -> (0 until 300).map { i =>
      entry(s"key ${i % 200}", s"$i".getBytes, Some(HashKey(BigInt(2).pow(100) + i % 150)))
    },
    "lengths" -> Seq(0, 1, 121, 122, 123, 127, 128, 16384).map(n => entry("customer 1", bytes(n))),
    "an aggregate alone" -> Seq(entry("customer 1", nested)),
    "an aggregate among others" -> Seq(entry("customer 1", nested), entry("customer 1", bytes(2)))
  )

  private def written(entry: PutEntry): ObjectNode = {
    val node = json.createObjectNode().put("partitionKey", entry.partitionKey)
    entry.explicitHashKey.foreach(key => node.put("explicitHashKey", key.toString))
    node.put("data", entry.data)
  }

  private def document: String = {
    val all = json.createObjectNode()
    val builder = new AggregateBuilder(ServiceLimits.RecordBytes)
    cases.foreach { case (name, entries) =>
      entries.foreach(builder.add)
      val node = written(builder.result())
      val records = node.putArray("userRecords")
      entries.foreach(entry => records.add(written(entry)))
      all.set[ObjectNode](name, node)
    }
    json.writerWithDefaultPrettyPrinter.writeValueAsString(all) + "\n"
  }

  test("the builder's records equal those of the golden file") {
    if (sys.env.contains("UPDATE_GOLDEN")) Files.write(file, document.getBytes(UTF_8))
    assert(
      new String(Files.readAllBytes(file), UTF_8) === document,
      "UPDATE_GOLDEN=1 project/sbt \"connector/testOnly *AggregateBuilderGoldenSuite\" " +
        "writes it again."
    )
  }

  test("each aggregate of the golden file equals the one of our tests' own producer") {
    val made = json.readTree(file.toFile)
    cases.filter(_._1 != "alone").foreach { case (name, entries) =>
      val records = entries.map { it =>
        KplAggregates.SubRecord(
          it.partitionKey,
          it.data.toVector,
          it.explicitHashKey.map(_.toString)
        )
      }
      assert(made.get(name).get("data").binaryValue.toSeq === KplAggregates(records).toSeq, name)
    }
    assert(made.fieldNames.asScala.toSeq === cases.map(_._1))
  }
}
