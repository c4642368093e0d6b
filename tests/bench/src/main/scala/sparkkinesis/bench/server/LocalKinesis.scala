package sparkkinesis.bench.server

import java.net.URI
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.{HttpClient, HttpRequest}
import java.nio.file.Path

import scala.concurrent.duration.FiniteDuration
import scala.util.Using

import sparkkinesis.bench.raw.{RawClient, RawWriter}

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

  /** Moves the time of the service forward. */
  def advance(by: FiniteDuration): Unit = {
    val body = BodyPublishers.ofString(s"""{"advance": ${by.toSeconds}}""")
    val request = HttpRequest.newBuilder(endpoint.resolve("/_simulator/clock")).POST(body).build()
    val answer = LocalKinesis.http.send(request, BodyHandlers.ofString())
    if (answer.statusCode != 200)
      throw new IllegalStateException(s"The local Kinesis does not move its clock: $answer.")
  }

  override def close(): Unit =
    try client.close()
    finally server.close()
}

object LocalKinesis {
  private val http = HttpClient.newHttpClient()

  /** @param heap maximum heap of the server, for example `4g` */
  def use[A](heap: String, arguments: String*)(body: LocalKinesis => A): A =
    Using.resource {
      val server = SimulatorProcess.start(heap, arguments: _*)
      new LocalKinesis(server, new RawClient(server.endpoint))
    }(body)

  /**
   * A server with the quotas of AWS, and a stream that has many records. A server without quotas
   * has taken them, because writers have half of the readers' quota.
   *
   * @param folder keeps the data; empty
   */
  def withBacklog[A](folder: Path, stream: String, shards: Int, records: Int, recordSize: Int)(
      body: LocalKinesis => A
  ): A = {
    val persisted = Seq("--persist", folder.toString)
    use(BacklogHeap, persisted: _*) { kinesis =>
      kinesis.client.createStream(stream, shards)
      RawWriter.put(kinesis.client, stream, records, recordSize)(RawWriter.evenKey)
    }
    use(BacklogHeap, persisted ++ Seq("--quotas", "aws"): _*)(body)
  }

  private val BacklogHeap = "6g"
}
