package sparkkinesis.source.query

import java.time.Instant

import sparkkinesis.model.{ShardId, StreamArn}

/**
 * What a query wants done. The answer, if there is one, is a later event: it may come late, or
 * after the answer to a later command.
 */
private[sparkkinesis] sealed trait Command

private[sparkkinesis] object Command {

  /** Answered by `described`. An account has few of these calls per second. */
  final case class Describe(stream: StreamArn) extends Command

  /** Lists all shards of the stream, open and closed. Answered by `listed`. */
  final case class List(stream: StreamArn) extends Command

  /** Asks whether the service knows none of these shards any more. Answered by `probed`. */
  final case class Probe(stream: StreamArn, shards: Set[ShardId]) extends Command

  /** Finds where a new query begins to read the stream. Answered by `begun`. */
  final case class Begin(stream: StreamArn) extends Command

  /** Looks which executors the application has. Answered by `executorsFound`. */
  case object FindExecutors extends Command

  /**
   * Starts services by a Spark job. Answered by `servicesStarted`.
   *
   * @param executors IDs and hosts; empty if the application has no executor yet
   */
  final case class StartServices(executors: Map[String, String]) extends Command

  final case class Warn(text: String) extends Command
}

/** What Spark's thread gets. */
private[sparkkinesis] sealed trait Answer[+A]

private[sparkkinesis] object Answer {
  final case class Ready[A](value: A) extends Answer[A]

  /**
   * Spark's thread asks again at this time, or earlier if something has happened.
   *
   * @param until by the steady clock; at most 10 s away, so that a planned stop need not wait
   */
  final case class Wait(until: Instant) extends Answer[Nothing]

  /** The query ends. */
  final case class Fail(cause: Throwable) extends Answer[Nothing]
}
