package sparkkinesis.simulator.service

import java.time.Instant

import sparkkinesis.simulator.operation.Changing
import sparkkinesis.simulator.state.{Settings, State}

/** Keeps what changes the state, so that another process can make the same state again. */
trait Journal extends AutoCloseable {

  /** What was kept; without streams where nothing was. Called once, first. */
  private[simulator] def restored(settings: Settings): Kept

  /**
   * Returns once the change is kept; whoever asked for it is told afterwards.
   *
   * Throws [[JournalException]] where it cannot be kept: the change must not happen then.
   *
   * @param answer of the operation
   */
  private[simulator] def keep(operation: Changing[Any], answer: Any, now: Instant): Unit
}

object Journal {

  /** Keeps nothing. */
  case object None extends Journal {
    override private[simulator] def restored(settings: Settings): Kept =
      Kept(State.empty(settings), Instant.MIN)

    override private[simulator] def keep(
        operation: Changing[Any],
        answer: Any,
        now: Instant
    ): Unit = ()

    override def close(): Unit = ()
  }
}

/** @param until the time of the last change: the service's time does not go back behind it */
private[simulator] final case class Kept(state: State, until: Instant)

/** A journal that cannot be read or written; the message says which, where, and what to do. */
final class JournalException(message: String, cause: Option[Throwable] = Option.empty)
    extends RuntimeException(message, cause.orNull)
