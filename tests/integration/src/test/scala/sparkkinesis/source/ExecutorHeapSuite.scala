package sparkkinesis.source

import java.nio.file.Paths
import java.util.concurrent.TimeUnit

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Slow
import sparkkinesis.client.{ListShardsRequest, ShardFilter}
import sparkkinesis.model.{PutEntry, StreamName, StreamRef}
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.service.SimulatedKinesis

/**
 * The heap of an executor whose query hangs while 64 shards deliver at full speed. The heap has
 * room for the buffer and a hundred megabytes more, so that the process fails if the buffer ever
 * grows too large.
 */
class ExecutorHeapSuite extends AnyFunSuite {
  private val mega = 1L << 20
  private val shards = 64
  private val allowed = 100 * mega

  /** For Scala, the SDK and the client. */
  private val base = 40 * mega
  private val name = StreamName("orders")

  /** @param put the records of each shard, in requests */
  private def measure(buffer: Long, recordsOfPage: Int)(put: Seq[Seq[Array[Byte]]]): Unit = {
    val server = KinesisServer.start()
    try {
      server.kinesis.createStream(name, shards)
      fill(server.kinesis, put)
      val process = new ProcessBuilder(
        Paths.get(sys.props("java.home"), "bin", "java").toString,
        s"-Xmx${(base + buffer + allowed) / mega}m",
        "-Xmn16m",
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djava.net.preferIPv4Stack=true",
        "-cp",
        sys.props("java.class.path"),
        "sparkkinesis.source.ExecutorHeap",
        server.endpoint.toString,
        buffer.toString,
        recordsOfPage.toString
      ).redirectError(ProcessBuilder.Redirect.INHERIT).start()
      try check(process, buffer)
      finally process.destroyForcibly().waitFor(): Unit
    } finally server.close()
  }

  private def check(process: Process, buffer: Long): Unit = {
    val lines = new String(process.getInputStream.readAllBytes()).linesIterator.toSeq
    assert(process.waitFor(5, TimeUnit.MINUTES) && process.exitValue === 0, "out of memory?")
    val numbers = lines.last.split(' ').map(_.toLong)
    val (seen, before, live, buffered) = (numbers(0), numbers(1), numbers(2), numbers(3))
    info(
      s"heap ${before / mega} MB before, ${live / mega} MB with a full buffer of " +
        s"${buffered / mega} MB; allowed were ${(before + buffer + allowed) / mega} MB"
    )
    assert(seen === shards && before < base)
    assert(buffered > buffer / 2, "it did fill")
    assert(live - before < buffer + allowed)
  }

  private def fill(kinesis: SimulatedKinesis, put: Seq[Seq[Array[Byte]]]): Unit = {
    val stream = StreamRef.ByName(name)
    kinesis.listShards(ListShardsRequest.First(stream, ShardFilter.AtLatest)).shards.foreach {
      shard =>
        put.foreach { request =>
          kinesis.putRecords(stream, request.map(PutEntry("k", _, Some(shard.hashKeys.first))))
        }
    }
  }

  test("with records of 100 bytes the buffer counts the memory besides their data") {
    val request = Seq.fill(500)(new Array[Byte](100))
    measure(buffer = 64 * mega, recordsOfPage = 10000)(Seq.fill(20)(request))
  }

  test("small pages followed by pages of the largest possible size fit in the heap", Slow) {
    val tiny = Seq.fill(10)(new Array[Byte](10))
    val large = Seq.fill(9)(new Array[Byte]((mega - 1000).toInt))
    measure(buffer = 64 * mega, recordsOfPage = 10)(Seq(tiny, large))
  }
}
