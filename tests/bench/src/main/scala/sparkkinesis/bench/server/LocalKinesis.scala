package sparkkinesis.bench.server

import java.net.URI

import scala.util.Using

import sparkkinesis.bench.raw.RawClient

/** A local Kinesis process for some measurements, and a client to it. */
final class LocalKinesis private (val server: SimulatorProcess, val client: RawClient)
    extends AutoCloseable {
  def endpoint: URI = server.endpoint

  /** Creates a stream, runs the body, and deletes the stream. */
  def withStream[A](stream: String, shards: Int)(body: => A): A = {
    client.createStream(stream, shards)
    try body
    finally client.deleteStream(stream)
  }

  override def close(): Unit =
    try client.close()
    finally server.close()
}

object LocalKinesis {

  /** @param heap maximum heap of the server, for example `4g` */
  def use[A](heap: String, arguments: String*)(body: LocalKinesis => A): A =
    Using.resource {
      val server = SimulatorProcess.start(heap, arguments: _*)
      new LocalKinesis(server, new RawClient(server.endpoint))
    }(body)
}
