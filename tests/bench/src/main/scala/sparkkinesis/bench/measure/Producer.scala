package sparkkinesis.bench.measure

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._
import scala.util.Random

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry

import sparkkinesis.bench.raw.{RawClient, Waiting}

/**
 * Puts records at a mean rate. Each record contains the time at which it was due, even if an
 * earlier put delays it. The pauses are random, so that they do not synchronize with a poller.
 *
 * @param rate records per second
 */
final class Producer(client: RawClient, stream: String, rate: Int) {
  private val random = new Random(7)
  private val perRequest = math.max(1, rate / 100)
  private val meanPause = 1.second * perRequest.toLong / rate.toLong

  /** @return number of records */
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

  /** Bytes of a record. */
  val RecordSize = 16

  /** Age in milliseconds of a record with this data, which this process has put. */
  def age(data: Array[Byte]): Double =
    (System.nanoTime() - new String(data, UTF_8).toLong) / 1e6
}
