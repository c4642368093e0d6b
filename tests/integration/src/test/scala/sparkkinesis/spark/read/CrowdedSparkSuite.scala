package sparkkinesis.spark.read

import java.lang.management.ManagementFactory
import java.nio.file.Paths

import scala.io.Source
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.LongRunningSuite
import sparkkinesis.client.{ListShardsRequest, ShardFilter}
import sparkkinesis.model.{PutEntry, StreamName, StreamRef}
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.service.SimulatedKinesis

/**
 * Fifty queries on one executor with two cores, each of four shards with a backlog: all have an
 * even part of the buffer, and the heap has room for what the buffer allows and not for more.
 */
class CrowdedSparkSuite extends AnyFunSuite with LongRunningSuite {
  private val (queries, shards, recordBytes) = (50, 4, 10000)
  private val name = StreamName("crowded")

  /** @return the last lines of the output of the program */
  private def run(heap: Int, perShard: Int, page: Int): Seq[Seq[Long]] = {
    val server = KinesisServer.start()
    try {
      server.kinesis.createStream(name, shards)
      fill(server.kinesis, 1)
      val arguments = Seq(server.endpoint.toString, name.name) ++
        Seq(queries, shards * perShard, page).map(_.toString)
      val process = new ProcessBuilder(
        (Seq(
          Paths.get(sys.props("java.home"), "bin", "java").toString,
          s"-Xmx${heap}m"
        ) ++ opened ++
          Seq("-XX:+ExitOnOutOfMemoryError", "-XX:TieredStopAtLevel=1") ++
          Seq("-Djava.net.preferIPv4Stack=true", "-cp") ++
          sys.props.get("java.class.path") ++ Seq("sparkkinesis.spark.read.CrowdedSpark") ++
          arguments).asJava
      ).redirectError(ProcessBuilder.Redirect.INHERIT).start()
      try {
        val lines = Source.fromInputStream(process.getInputStream).getLines()
        if (lines.contains(CrowdedSpark.Begun)) fill(server.kinesis, perShard - 1)
        val last = lines.toVector.takeRight(4)
        assert(process.waitFor() === 0, s"3 says that $heap MB of heap are too little")
        last.map(_.split(' ').toSeq.map(_.toLong))
      } finally process.destroyForcibly().waitFor(): Unit
    } finally server.close()
  }

  /** What Spark asks for on this Java; sbt passes it to this JVM. */
  private def opened: Seq[String] =
    ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.toSeq
      .filter(_.startsWith("--add-"))

  private def fill(kinesis: SimulatedKinesis, perShard: Int): Unit = {
    val stream = StreamRef.ByName(name)
    val data = new Array[Byte](recordBytes)
    val all = kinesis.listShards(ListShardsRequest.First(stream, ShardFilter.AtLatest)).shards
    all.foreach { shard =>
      Seq.fill(perShard)(PutEntry("k", data, Some(shard.hashKeys.first))).grouped(100).foreach {
        kinesis.putRecords(stream, _)
      }
    }
  }

  /**
   * @param least of the records that every query has read when the first one has read all. The
   *   queries have had as many batches then. Each had a page or more, and at most those that a
   *   query may hold.
   */
  private def evenly(heap: Int, perShard: Int, page: Int, least: Double): Unit = {
    val Seq(atFirstEnd, done, batches, reread) = run(heap, perShard, page): @unchecked
    val all = (shards * perShard).toLong
    info(
      s"when the first of $queries queries has read $all records, the others have read " +
        s"${atFirstEnd.min} or more; ${batches.min} to ${batches.max} batches"
    )
    assert(done === Seq.fill(queries)(all), "records of each query")
    assert(reread.sum === 0, s"ranges read again, by query: ${reread.mkString(" ")}")
    assert(
      atFirstEnd.size === queries && atFirstEnd.min >= least * all,
      s"records of each query when the first has read $all: ${atFirstEnd.sorted.mkString(" ")}; " +
        s"batches: ${batches.mkString(" ")}"
    )
  }

  test("with pages of 1 MB, of which each query holds five") {
    evenly(heap = 768, perShard = 1000, page = 100, least = 0.2)
  }

  test("with pages of 10 MB, of which each query holds one") {
    evenly(heap = 1280, perShard = 2000, page = 1000, least = 0.5)
  }
}
