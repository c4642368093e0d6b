package sparkkinesis.spark.once

import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sparkkinesis.OtherVersion

import sparkkinesis.model.PutEntry
import sparkkinesis.sink.FastClock
import sparkkinesis.sink.once.WriterAnswer.{Finished, Held, NotYet}
import sparkkinesis.sink.once._

/** What a task does when the driver does not permit it to send. */
class OnceTaskSuite extends AnyFunSuite {
  private val settings = OnceSettings("endpoint", "q", 3, "i", 0, None, OnceTerms())

  private def failure(ask: WriterAsk => Option[WriterAnswer]): OnceException = {
    val task = new OnceTask(settings, 0, 5, ask, 1.minute, new FastClock, () => false)
    try intercept[OnceException](task.begin())
    finally task.close()
  }

  test("a task that gives up says why the driver did not answer") {
    val cause = new IOException("the driver is gone")
    val e = failure(_ => throw cause)
    assert(e.condition === OnceException.Fenced && e.getCause === cause)
    assert(e.getMessage.contains("the driver is gone"))
  }

  test("a task of a write that is done sends nothing, and reports its rows") {
    val total = entries.map(RowTotal.of).reduce(_ + _)
    val done = settings.copy(isDone = true, isNamed = true)
    assert(asked(done, isWritten = true) === Seq(WriterAsk.Finish(0, 5, 0, total)))
  }

  test("a task of a streaming query does not add up its rows") {
    val last = asked(settings, isWritten = false).last
    assert(last === WriterAsk.Finish(0, 5, 0, RowTotal.Zero))
  }

  private val entries = Seq("a", "b").map(PutEntry(_, Array[Byte](1), None))

  /** What a task asks that has these two rows. */
  private def asked(settings: OnceSettings, isWritten: Boolean): Seq[WriterAsk] = {
    val questions = new ConcurrentLinkedQueue[WriterAsk]
    def ask(question: WriterAsk): Option[WriterAnswer] = {
      questions.add(question)
      question match {
        case _: WriterAsk.Finish => Some(Finished)
        case _ => Some(Held(1000, Array.emptyByteArray))
      }
    }
    val task = new OnceTask(settings, 0, 5, ask, 1.minute, new FastClock, () => false)
    try {
      entries.foreach { entry =>
        task.begin()
        assert(task.isWritten(entry) === isWritten)
      }
      task.finish()
    } finally task.close()
    questions.asScala.filterNot(_.isInstanceOf[WriterAsk.Hold]).toSeq
  }

  test("a task begins after an hour in which the driver answered that it may not begin yet") {
    var asked = 0
    def answer = {
      asked += 1
      if (asked == 1) throw new IOException("lost")
      Some(if (asked < 18000) NotYet else Held(1000, Array.emptyByteArray))
    }
    val task = new OnceTask(settings, 0, 5, _ => answer, 10.minutes, new FastClock, () => false)
    try task.begin()
    finally task.close()
    assert(asked >= 18000)
  }

  test("a driver with another version of the jar ends the task at once") {
    val answer = OnceTask.refused(new OtherVersion("0.1", "7", null))
    val e = failure(_ => Some(answer))
    assert(e.getMessage.contains("0.1") && e.getMessage.contains("same jar"))
  }
}
