package sparkkinesis.sink.write

import scala.concurrent.duration._
import scala.util.Random

import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.time.{Seconds, Span}

import sparkkinesis.client._
import sparkkinesis.model.{PutEntry, ServiceLimits, StreamName, StreamRef}
import sparkkinesis.sink.lane.{ExpiredRecord, RequestLimits}
import sparkkinesis.sink.metrics.SinkMetrics
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.{FakeKinesis, FastClock, SinkOptions}

/** Writers to a fake stream, closed after use. */
trait RecordWriterFixture {
  protected val stream: StreamRef = StreamRef.ByName(StreamName("orders"))

  /** How long a test waits for something that always happens, even on a busy machine. */
  protected val soon: Timeout = Timeout(Span(60, Seconds))

  /** Retries for longer than any test takes. */
  protected val patient: SinkOptions = SinkOptions(deliveryTimeout = 1000.hours)

  /** Sends nothing before `flush`, except full requests, however slow the test is. */
  protected val lingering: SinkOptions = patient.copy(givenLinger = Some(1000.hours))

  protected def entry(text: String): PutEntry = PutEntry("key", text.getBytes, None)

  /** A writer to one stream. */
  protected final class OneStream(writer: RecordWriter, stream: TargetStream)
      extends AutoCloseable {
    def put(entry: PutEntry): Unit = writer.put(stream, entry)
    def flush(): Unit = writer.flush()
    def check(): Unit = writer.check()
    def takeExpired(): Vector[ExpiredRecord] = writer.takeExpired()
    def buffered: Long = writer.buffered
    def metrics: SinkMetrics = writer.metrics
    override def close(): Unit = writer.close()
  }

  protected def target(client: KinesisClient, clock: Clock): TargetStream =
    new TargetStream(stream, client, ServiceLimits.RecordBytes, None, 1, clock)

  protected def newWriter(
      client: KinesisClient,
      options: SinkOptions = SinkOptions(),
      limits: RequestLimits = RequestLimits(10, 1000),
      clock: Clock = new FastClock,
      isCancelled: () => Boolean = () => false,
      seed: Long = 1,
      onFailure: () => Unit = () => ()
  ): OneStream = {
    val begun = SystemClock.elapsedMillis
    def isEndless = SystemClock.elapsedMillis - begun > MostMillis
    val random = new Random(seed)
    val limited =
      options.copy(maxRequestRecords = limits.records, maxRequestBytes = limits.bytes)
    val isEnded = () => isCancelled() || isEndless
    new OneStream(
      new RecordWriter(limited, None, clock, random, isEnded, onFailure),
      target(client, clock)
    )
  }

  /** After this time, the owner of a writer waits in vain: its task counts as cancelled. */
  private val MostMillis = 30000L

  protected def using[A](writer: OneStream)(use: OneStream => A): A =
    try use(writer)
    finally writer.close()

  protected def thread(body: => Unit): Thread = {
    val thread = new Thread(() => body)
    thread.setDaemon(true)
    thread.start()
    thread
  }

  /** Fails requests and records by chance, sometimes after it wrote them. */
  protected def moody(seed: Long): FakeKinesis = {
    val random = new Random(seed)
    new FakeKinesis((it, entries) =>
      random.nextInt(6) match {
        case 0 => throw new KinesisException.Throttled("slow down")
        case 1 => throw new KinesisException.Unreachable("no way")
        case 2 =>
          entries.foreach(it.write)
          throw new KinesisException.Unreachable("no answer")
        case 3 => throw new KinesisException.ServiceFailure("oops")
        case _ =>
          entries.map { entry =>
            random.nextInt(4) match {
              case 0 => FakeKinesis.Throttle
              case 1 => PutResult.Failed("InternalFailure", "Internal service failure.")
              case _ => it.write(entry)
            }
          }
      }
    )
  }
}
