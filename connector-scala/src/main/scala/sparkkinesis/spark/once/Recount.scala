package sparkkinesis.spark.once

import sparkkinesis.sink.once._

/**
 * A run of a batch write that was committed before, on the driver: its tasks write nothing and
 * count their rows. Answers them from its creation to `close`.
 */
private[once] final class Recount(endpoint: String, writeId: String, done: Committed)
    extends AutoCloseable {
  private val session = new WriteSession(run = 0, OnceTerms(), start = 0)

  private val server =
    OnceEndpoint.serve(endpoint)(ask => session.synchronized(session.answer(ask, now = 0)))

  /** @throws OnceException if the rows are not those that were committed */
  def check(): Unit = {
    val total = session.synchronized(session.total)
    if (total != done.total) throw OnceException.nameIsUsed(writeId, done.at, done.total, total)
    Recount.log.warn(
      s"Batch write '$writeId' was complete at ${done.at}: all its ${total.rows} rows are in the " +
        "stream already, and this run skipped them."
    )
  }

  override def close(): Unit = server.close()
}

private[once] object Recount {
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[Recount])
}
