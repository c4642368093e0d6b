package sparkkinesis.bench.measure

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._
import scala.util.Random

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry

import sparkkinesis.bench.raw.{RawClient, Waiting}

/**
 * Puts records at a mean rate; each says when it was due, whether or not the put before had come back by
 * then: a slow put makes those behind it late. The pauses are random, or they would keep step with those
 * of whoever polls.
 *
 * @param rate records a second
 */
final class Producer(client: RawClient, stream: String, rate: Int) {
  private val random = new Random(7)
  private val perRequest = math.max(1, rate / 100)
  private val meanPause = 1.second * perRequest.toLong / rate.toLong

  /** @return how many were put */
  def run(time: FiniteDuration): Int = {
    val end = time.fromNow
    var due = Deadline.now
    var sent = 0
    while (due < end) {
      Waiting.sleep(due.timeLeft.max(Duration.Zero))
      put(due)
      sent += perRequest
      due += Duration.fromNanos((meanPause.toNanos * 2 * random.nextDouble()).toLong)
    }
    sent
  }

  private def put(due: Deadline): Unit = {
    val stamp = due.time.toNanos.toString // of System.nanoTime
    val data = SdkBytes.fromByteArrayUnsafe(stamp.getBytes(UTF_8))
    val entries = Seq.fill(perRequest) {
      val key = random.alphanumeric.take(12).mkString
      PutRecordsRequestEntry.builder().partitionKey(key).data(data).build()
    }
    client.sdk.putRecords { b => b.streamName(stream).records(entries: _*); () }
    ()
  }
}

object Producer {

  /** Milliseconds since a record of this data was due, put by this very process. */
  def age(data: Array[Byte]): Double =
    (System.nanoTime() - new String(data, UTF_8).toLong) / 1e6
}
