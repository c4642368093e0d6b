package sparkkinesis.spark.write

import java.util.{HashMap => JMap}

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.client._
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.spark.errors.ConnectorError

/**
 * The target of a row.
 *
 * @param limit of the stream for one record, in bytes, with its partition key
 * @param ask for the present limit; none if the driver asks for it
 */
private[spark] final class RowTarget(
    val stream: TargetStream,
    private var limit: Int,
    ask: Option[() => Int]
) {
  def maxRecordBytes: Int = limit

  /** The refreshed limit. Ask for it before refusing a record. */
  def freshMaxRecordBytes: Int = {
    ask.foreach(it => limit = it())
    limit
  }
}

/**
 * The streams that the rows of one task go to. Borrows each stream at its first row. Owned by one
 * thread.
 *
 * A row that names a stream which does not exist is a bad row: the name is part of the row, and
 * should not stop a query that keeps bad rows. A failure that is not the row's, such as a missing
 * permission, fails the task.
 *
 * @param describe makes a call that describes a stream, and notices when the task is cancelled
 */
private[spark] final class RowTargets(
    settings: WriteSettings,
    streams: RoutedStreams,
    describe: (=> StreamSummary) => StreamSummary
) extends AutoCloseable {
  import RowTargets._

  private val patience = settings.options.deliveryTimeout
  private val loans = mutable.Map.empty[StreamAccess, Loan[RoutedStream]]
  private val missing = mutable.Map.empty[StreamAccess, BadRow]
  private val byText = new JMap[UTF8String, RowTarget]
  private lazy val fixed: Option[Either[BadRow, RowTarget]] = settings.stream.map { it =>
    val stream = borrow(it.access).target(it.summary, settings.executors)
    Right(new RowTarget(stream, it.summary.maxRecordBytes, None))
  }

  /**
   * @throws KinesisException or [[ConnectorError]] if the service does not answer whether the row's
   *   stream accepts records
   */
  def of(row: InternalRow): Either[BadRow, RowTarget] = fixed.getOrElse(named(row))

  private def named(row: InternalRow): Either[BadRow, RowTarget] = settings.columns.stream match {
    case Some(column) if !row.isNullAt(column.place) =>
      val text = row.getUTF8String(column.place)
      Option(byText.get(text)).map(Right(_)).getOrElse(first(column, text))
    case column => Left(BadRow.NullStream(column.fold(StreamColumn.Name)(_.name)))
  }

  private def first(column: StreamColumn, text: UTF8String): Either[BadRow, RowTarget] =
    for {
      ref <- column.parse(text)
      access <- settings.defaults.accessTo(ref).left.map(BadRow.OutOfReach(column.name, _))
      target <- existing(column, access)
    } yield {
      byText.put(text.copy(), target) // Spark uses the row's bytes again
      target
    }

  private def existing(column: StreamColumn, access: StreamAccess): Either[BadRow, RowTarget] =
    missing.get(access).map(Left(_)).getOrElse {
      try {
        val stream = borrow(access)
        val summary = describe(stream.summary(patience))
        AutoDistribution.refuse(access.ref, summary, settings.options)
        val target = stream.target(summary, settings.executors)
        val ask = () => describe(stream.freshSummary(patience)).maxRecordBytes
        Right(new RowTarget(target, summary.maxRecordBytes, Some(ask)))
      } catch {
        case e: KinesisException.NotFound =>
          loans.remove(access).foreach(_.close())
          if (missing.size == MostMissing) throw tooManyMissing(column.name)
          val bad = BadRow.StreamNotFound(column.name, e.getMessage)
          missing(access) = bad
          Left(bad)
      }
    }

  /**
   * The error if rows name too many missing streams. Each costs a call, and an account may make 20
   * calls per second.
   */
  private def tooManyMissing(column: String) = ConnectorError(
    "KINESIS_STREAM_NOT_FOUND",
    s"In one task, column '$column' names more than $MostMissing streams that do not exist, such " +
      s"as ${missing.keys.take(3).map(_.ref).mkString(", ")}. Check that the column holds stream " +
      "names."
  )

  private def borrow(access: StreamAccess): RoutedStream =
    loans.getOrElseUpdate(access, streams.borrow(access)).value

  override def close(): Unit = loans.values.foreach { loan =>
    try loan.close()
    catch { case NonFatal(e) => log.warn("Could not release a stream", e) }
  }
}

private[spark] object RowTargets {
  private val MostMissing = 100
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[RowTargets])
}
