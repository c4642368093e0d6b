package sparkkinesis.sink

import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import org.scalatest.Assertions._
import org.scalatest.concurrent.Eventually._
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.time.{Seconds, Span}

/** Several tasks that wait for the same call. */
object WaitingTasks {

  /**
   * Eight threads call `wait`, one after the other, until each one waits.
   *
   * @param release ends the wait
   * @return what each of them throws
   */
  def failures(wait: => Any)(release: => Unit): Seq[Throwable] = {
    val failures = new LinkedBlockingQueue[Throwable]
    (1 to 8).foreach { _ =>
      val task = new Thread(() =>
        try wait: Unit
        catch { case e: Throwable => failures.put(e) }
      )
      task.setDaemon(true)
      task.start()
      eventually(Timeout(Span(60, Seconds)))(assert(task.getState === Thread.State.WAITING))
    }
    release
    Seq.fill(8)(failures.poll(1, TimeUnit.MINUTES))
  }
}
