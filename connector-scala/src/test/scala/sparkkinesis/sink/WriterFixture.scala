package sparkkinesis.sink

import scala.util.Random

import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.time.{Seconds, Span}

import sparkkinesis.client._
import sparkkinesis.model._

/** A writer with small limits, and threads to use it from. */
trait WriterFixture {
  protected val stream = StreamRef.ByName(StreamName("orders"))
  protected val soon = Timeout(Span(10, Seconds))

  protected def entry(text: String) = PutEntry("key", text.getBytes, None)

  protected def withWriter[A](
      client: KinesisClient,
      options: SinkOptions = SinkOptions(),
      limits: RequestLimits = RequestLimits(10, 1000),
      clock: FastClock = new FastClock
  )(use: RecordWriter => A): A = {
    val writer = new RecordWriter(client, stream, limits, options, clock, new Random(1))
    try use(writer)
    finally writer.close()
  }

  protected def thread(body: => Unit): Thread = {
    val thread = new Thread(() => body)
    thread.setDaemon(true)
    thread.start()
    thread
  }
}
