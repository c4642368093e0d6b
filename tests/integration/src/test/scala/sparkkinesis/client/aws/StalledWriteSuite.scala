package sparkkinesis.client.aws

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._
import scala.util.Random

import org.scalatest.concurrent.TimeLimits.failAfter
import org.scalatest.concurrent.{Signaler, ThreadSignaler}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.model.{PutEntry, ServiceLimits, StreamName, StreamRef}
import sparkkinesis.simulator.fault.{Fault, FaultRule}
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.simulator.{KinesisServer, LocalClient}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.metrics.SinkCounter
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.write.RecordWriter

/** One `PutRecords` hangs, over HTTP: the writer gives it up by its own limit, not the client's. */
class StalledWriteSuite extends AnyFunSuite {
  implicit private val signaler: Signaler = ThreadSignaler
  private val name = StreamName("orders")

  private val options =
    SinkOptions(deliveryTimeout = 1.hour, requestTimeout = 1.second, givenLinger = Some(1.hour))

  private def withWriter[A](server: KinesisServer)(use: (RecordWriter, TargetStream) => A): A = {
    val client = AwsClientFactory.create(
      LocalClient.config(server.endpoint),
      Timeouts(connect = 5.seconds, attempt = 1.hour, call = 1.hour)
    )
    val stream = new TargetStream(
      StreamRef.ByName(name),
      client,
      ServiceLimits.RecordBytes,
      None,
      1,
      SystemClock
    )
    val writer =
      new RecordWriter(
        options,
        None,
        SystemClock,
        new Random(1),
        () => false
      )
    try use(writer, stream)
    finally
      try writer.close()
      finally client.close()
  }

  test("a request that hangs is given up, and its records are written again") {
    val server = KinesisServer.start()
    try {
      server.kinesis.createStream(name, 2)
      server.kinesis.script.add(
        FaultRule(Fault.Stalled(1.hour), Some("PutRecords"), times = Some(1))
      )
      val rows = (1 to 100).map(_.toString)
      withWriter(server) { (writer, stream) =>
        failAfter(Span(120, Seconds)) {
          rows.foreach(it => writer.put(stream, PutEntry(s"key-$it", it.getBytes(UTF_8), None)))
          writer.flush()
        }
        assert(writer.metrics(SinkCounter.UnansweredRequests) === 1)
      }
      assert(Arrived.texts(server.kinesis, name).toSet === rows.toSet)
    } finally server.close()
  }
}
