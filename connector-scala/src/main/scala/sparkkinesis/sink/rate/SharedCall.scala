package sparkkinesis.sink.rate

import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.annotation.tailrec

/**
 * A call that several threads may need at the same time, and its last answer. One of them makes the
 * call, and the others wait for its outcome, also for its failure: if they asked a service that
 * does not answer one after another, the last one would wait for all.
 *
 * @param first the answer that is known without a call
 */
private[sparkkinesis] final class SharedCall[A <: AnyRef](first: Option[A] = None) {
  @volatile private var known = first
  private var running = Option.empty[CompletableFuture[A]] // guarded by this object's monitor

  def last: Option[A] = known

  /**
   * An answer other than the one that the caller knows. If there is none yet, makes the call, or
   * waits for the one that another thread makes now. If that thread is interrupted, one of those
   * that wait makes the call.
   *
   * @param stale the answer that the caller knows
   * @throws InterruptedException or what the call throws
   */
  def after(stale: Option[A])(call: => A): A = shared {
    known.filterNot(it => stale.exists(_ eq it)).getOrElse {
      val answer = call
      known = Some(answer)
      answer
    }
  }

  @tailrec
  private def shared(call: => A): A = {
    val (outcome, isMine) = join()
    if (isMine) run(outcome, call)
    answer(outcome) match {
      case Right(value) => value
      case Left(_: InterruptedException) if !isMine => shared(call)
      case Left(e) => throw e
    }
  }

  private def join(): (CompletableFuture[A], Boolean) = synchronized {
    val outcome = running.getOrElse(new CompletableFuture[A])
    val isMine = running.isEmpty
    running = Some(outcome)
    (outcome, isMine)
  }

  private def run(outcome: CompletableFuture[A], call: => A): Unit = {
    val answer =
      try Right(call)
      catch { case e: Throwable => Left(e) }
    synchronized { running = None }
    answer.fold(outcome.completeExceptionally, outcome.complete): Unit
  }

  private def answer(outcome: CompletableFuture[A]): Either[Throwable, A] =
    try Right(outcome.get())
    catch { case e: ExecutionException => Left(e.getCause) }
}
