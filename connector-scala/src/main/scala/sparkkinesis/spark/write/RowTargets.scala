package sparkkinesis.spark.write

import java.util.{HashMap => JMap}

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.client.{KinesisException, Loan, StreamAccess}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.spark.ConnectorError

/** Where a row goes. */
private[spark] sealed trait RowTarget {
  def stream: TargetStream

  /** Bytes of a record that the stream allows, its partition key included. */
  def maxRecordBytes: Int

  /** The same, as it is now: asked before a record is refused. */
  def freshMaxRecordBytes: Int
}

/**
 * The streams that one task's rows go to, borrowed when the first row of each comes. Owned by one
 * thread.
 *
 * A stream that a row names and that does not exist makes a bad row of it: the name is a part of the
 * row, may be mistaken as any other, and should not stop for ever a query that was told what to do
 * with bad rows (once the stream is there, they are written from where they are kept). What is not the
 * row's fault, such as missing permissions, fails the task.
 */
private[spark] final class RowTargets(settings: WriteSettings, streams: RoutedStreams)
    extends AutoCloseable {
  import RowTargets._

  private val loans = mutable.Map.empty[StreamAccess, Loan[RoutedStream]]
  private val missing = mutable.Map.empty[StreamAccess, BadRow]
  private val byText = new JMap[UTF8String, RowTarget]
  private lazy val fixed = settings.stream.map { it =>
    new Fixed(borrow(it.access).target(it.summary, settings.executors), it.summary.maxRecordBytes)
  }

  /**
   * @throws KinesisException or [[ConnectorError]] where it cannot be told whether the row's stream
   *   takes records
   */
  def of(row: InternalRow): Either[BadRow, RowTarget] = settings.columns.stream match {
    case Some(column) if !row.isNullAt(column.place) =>
      val text = row.getUTF8String(column.place)
      Option(byText.get(text)).map(Right(_)).getOrElse(first(column, text))
    case Some(column) => fixed.toRight(BadRow.NullStream(column.name))
    case None => fixed.toRight(BadRow.NullStream(StreamColumn.Name))
  }

  private def first(column: StreamColumn, text: UTF8String): Either[BadRow, RowTarget] =
    for {
      ref <- column.parse(text)
      access <- settings.reach(ref).left.map(BadRow.OutOfReach(column.name, _))
      target <- existing(column, access)
    } yield {
      byText.put(text.copy(), target) // the row's bytes are Spark's, to be used again
      target
    }

  private def existing(column: StreamColumn, access: StreamAccess): Either[BadRow, RowTarget] =
    missing.get(access).map(Left(_)).getOrElse {
      try {
        val stream = borrow(access)
        AutoDistribution.refuse(access.ref, stream.summary, settings.options)
        Right(new Routed(stream, settings.executors))
      } catch {
        case e: KinesisException.NotFound =>
          loans.remove(access).foreach(_.close())
          if (missing.size == MostMissing) throw tooManyMissing(column.name)
          val bad = BadRow.StreamNotFound(column.name, e.getMessage)
          missing(access) = bad
          Left(bad)
      }
    }

  /** Each is asked for, and an account may ask 20 times a second. */
  private def tooManyMissing(column: String) = ConnectorError(
    "KINESIS_STREAM_NOT_FOUND",
    s"Column '$column' names more than $MostMissing streams in one task that do not exist, such as " +
      s"${missing.keys.take(3).map(_.ref).mkString(", ")}. Does it hold stream names?"
  )

  private def borrow(access: StreamAccess): RoutedStream =
    loans.getOrElseUpdate(access, streams.borrow(access)).value

  override def close(): Unit = loans.values.foreach { loan =>
    try loan.close()
    catch { case NonFatal(e) => log.warn("A stream could not be given back", e) }
  }
}

private[spark] object RowTargets {
  private val MostMissing = 100
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[RowTargets])

  /** That the options name; its limit is the driver's to ask. */
  private final class Fixed(val stream: TargetStream, val maxRecordBytes: Int) extends RowTarget {
    override def freshMaxRecordBytes: Int = maxRecordBytes
  }

  private final class Routed(shared: RoutedStream, executors: Int) extends RowTarget {
    private var limit = shared.summary.maxRecordBytes
    override val stream: TargetStream = shared.target(shared.summary, executors)
    override def maxRecordBytes: Int = limit

    override def freshMaxRecordBytes: Int = {
      limit = shared.freshSummary.maxRecordBytes
      limit
    }
  }
}
