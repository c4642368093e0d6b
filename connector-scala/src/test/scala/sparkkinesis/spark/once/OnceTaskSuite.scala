package sparkkinesis.spark.once

import java.io.IOException

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.FastClock
import sparkkinesis.sink.once.WriterAnswer.NotYet
import sparkkinesis.sink.once.{OnceException, OnceTerms, WriterAnswer, WriterAsk}

/** What a task does when the driver does not permit it to send. */
class OnceTaskSuite extends AnyFunSuite {
  private def failure(ask: WriterAsk => Option[WriterAnswer]): OnceException = {
    val settings = OnceSettings("endpoint", "q", 3, "i", 0, Array.emptyByteArray, OnceTerms())
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

  test("an answer that came is not a cause") {
    var asked = 0
    val e = failure { _ =>
      asked += 1
      if (asked == 1) throw new IOException("lost") else Some(NotYet)
    }
    assert(e.condition === OnceException.Fenced && e.getCause === null)
  }
}
