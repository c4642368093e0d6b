package sparkkinesis.simulator.http.fuzz

import java.net.{InetAddress, Socket}
import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.SystemClock
import sparkkinesis.model.{Position, ShardId, StreamName, StreamRef}
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.http.HttpAnswer
import sparkkinesis.{Repeated, TestScope}

/**
 * Any HTTP input gets the response of AWS, and does no harm. Each seed makes 2,000 inputs, and
 * `SEED=n` replays a failure.
 */
final class HttpFuzzSuite extends AnyFunSuite {
  private val InputsPerSeed = 2000

  /** An input takes less than a millisecond. After this time it hangs, even on a busy machine. */
  private val Patience = 300000

  private val seeds = TestScope.seeds(500, fixed = (1L to 5L).toVector)

  test(
    "a million valid, broken or hostile requests: each gets 200 or 4xx, and nothing is leaked",
    Repeated
  ) {
    watched("fuzz")(seeds.foreach(new FuzzRun(_, InputsPerSeed).run()))
  }

  test(
    "thousands of requests over sockets: every connection ends, and the server still works",
    Repeated
  ) {
    val world = new FuzzWorld
    val dice = new Dice(seeds.last)
    val server = KinesisServer.start(kinesis = world.kinesis)
    val requests = new FuzzedRequests(dice, world, FuzzRun.Shapes)
    try {
      watched("fuzz-sockets")((1 to TestScope.repetitions(3000)).foreach { i =>
        val isFramed = dice.oneIn(2)
        val request = if (isFramed) requests.framed() else requests.raw()
        FuzzRun.current = Input(seeds.last, i, request)
        val answers = exchanged(server.endpoint.getPort, request)
        val told = HttpAnswer.all(answers).filter(a => a.status >= 200 && !a.isStream)
        told.foreach(answer => assert(answer.fault.isEmpty, FuzzRun.current))
        if (isFramed) assert(HttpAnswer.first(answers).nonEmpty, s"no answer: ${FuzzRun.current}")
      })
      stillServes(server)
    } finally server.close()
  }

  /** Sends, hangs up its half, and reads to the end; what breaks off is an end too. */
  private def exchanged(port: Int, request: Array[Byte]): Array[Byte] = {
    val socket = new Socket(InetAddress.getLoopbackAddress, port)
    try {
      socket.setSoTimeout(Patience)
      Try {
        socket.getOutputStream.write(request)
        socket.shutdownOutput()
      }
      Try(socket.getInputStream.readAllBytes()).recover {
        case e: java.net.SocketTimeoutException => throw e
        case _: java.io.IOException => Array.emptyByteArray
      }.get
    } finally socket.close()
  }

  private def stillServes(server: KinesisServer): Unit = {
    val stream = StreamName("after")
    server.kinesis.createStream(stream, 1)
    val (status, _) =
      call(server, "PutRecord", """{"StreamName":"after","PartitionKey":"k","Data":"dg=="}""")
    assert(status == 200)
    val from = server.kinesis
      .shardIterator(
        StreamRef.ByName(stream),
        ShardId("shardId-000000000000"),
        Position.TrimHorizon
      )
    val (_, page) = call(server, "GetRecords", s"""{"ShardIterator":"${from.token}"}""")
    assert(page.contains(""""Data":"dg=="""") && page.contains(""""PartitionKey":"k""""))
  }

  private def call(server: KinesisServer, operation: String, body: String): (Int, String) = {
    val head = s"POST / HTTP/1.1\r\nX-Amz-Target: Kinesis_20131202.$operation\r\n" +
      s"Connection: close\r\nContent-Length: ${body.length}\r\n\r\n"
    val (answer, _) =
      HttpAnswer.first(exchanged(server.endpoint.getPort, (head + body).getBytes(UTF_8))).get
    (answer.status, new String(answer.body, UTF_8))
  }

  /** Fails with the input and the stack if an input does not end. */
  private def watched(name: String)(work: => Unit): Unit = {
    @volatile var outcome: Option[Try[Unit]] = None
    val thread = new Thread(() => outcome = Some(Try(work)), name)
    thread.setDaemon(true)
    thread.setUncaughtExceptionHandler((_, e) => outcome = Some(scala.util.Failure(e)))
    thread.start()
    @tailrec def await(input: Input, since: Long): Unit = {
      thread.join(500)
      if (thread.isAlive) {
        val now = SystemClock.now.toEpochMilli
        if (FuzzRun.current ne input) await(FuzzRun.current, now)
        else if (now - since < Patience) await(input, since)
        else fail(s"hangs: $input\n${thread.getStackTrace.mkString("\n")}")
      }
    }
    await(FuzzRun.current, SystemClock.now.toEpochMilli)
    outcome.getOrElse(fail(s"$name ended without an outcome")).get
  }
}
