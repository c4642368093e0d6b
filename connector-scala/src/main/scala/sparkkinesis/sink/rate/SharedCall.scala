package sparkkinesis.sink.rate

import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.annotation.tailrec

/**
 * A call that several threads may need at the same time. One of them makes it, and the others wait
 * for its outcome, also for its failure: if they asked a service that does not answer one after
 * another, the last one would wait for all.
 */
final class SharedCall[A] {
  private var running = Option.empty[CompletableFuture[A]] // guarded by this object's monitor

  /**
   * Makes the call, or waits for the one that another thread makes now. If that thread is
   * interrupted, one of those that wait makes the call.
   *
   * @throws InterruptedException or what the call throws
   */
  @tailrec
  def apply(call: => A): A = {
    val (outcome, isMine) = join()
    if (isMine) run(outcome, call)
    answer(outcome) match {
      case Right(value) => value
      case Left(_: InterruptedException) if !isMine => apply(call)
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
