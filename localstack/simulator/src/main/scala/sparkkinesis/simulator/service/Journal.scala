package sparkkinesis.simulator.service

import java.time.Instant

import sparkkinesis.simulator.operation.Changing
import sparkkinesis.simulator.state.{Settings, State}

/** Stores the changes of the state, so that another process can restore it. */
trait Journal extends AutoCloseable {

  /** Returns the stored state, or one without streams. Called once, before `append`. */
  private[simulator] def restored(settings: Settings): RestoredState

  /**
   * Stores a change, before the caller receives its result.
   *
   * Throws [[JournalException]] if the change cannot be stored. Then it must not happen.
   *
   * @param answer the result of the operation
   */
  private[simulator] def append(operation: Changing[Any], answer: Any, now: Instant): Unit
}

object Journal {

  /** Stores nothing. */
  case object None extends Journal {
    override private[simulator] def restored(settings: Settings): RestoredState =
      RestoredState(State.empty(settings), Instant.MIN)

    override private[simulator] def append(
        operation: Changing[Any],
        answer: Any,
        now: Instant
    ): Unit = ()

    override def close(): Unit = ()
  }
}

/** @param lastChange time of the last change: the service's time does not go back behind it */
private[simulator] final case class RestoredState(state: State, lastChange: Instant)

/**
 * A journal that cannot be read or written. The message has the cause, the place and the remedy.
 */
final class JournalException(message: String, cause: Option[Throwable] = Option.empty)
    extends RuntimeException(message, cause.orNull)
