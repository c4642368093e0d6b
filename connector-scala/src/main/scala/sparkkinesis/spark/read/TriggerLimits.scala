package sparkkinesis.spark.read

import org.apache.spark.sql.connector.read.streaming._

import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.spark.errors.ConnectorError

/** Maximum number of bytes per micro-batch. Spark 3.5 has no such limit of its own. */
private final case class ByteLimit(bytes: Long) extends ReadLimit

/** Converts the limits of a batch between Spark's classes and the source's. */
private[spark] object TriggerLimits {

  /**
   * The limit of a source without limits. It differs from Spark's `allAvailable`, which Spark
   * passes with `Trigger.Once`, and with no other trigger, whatever limit the source has.
   */
  case object Unlimited extends ReadLimit {
    override def toString: String = "none"
  }

  def toSpark(limits: ReadLimits): ReadLimit = {
    val each = limits.maxRecords.map(ReadLimit.maxRows) ++ limits.maxBytes.map(ByteLimit)
    each.toArray match {
      case Array() => Unlimited
      case Array(one) => one
      case several => ReadLimit.compositeLimit(several)
    }
  }

  /** @throws ConnectorError if the trigger is `Trigger.Once` */
  def of(limit: ReadLimit): ReadLimits = limit match {
    case _: ReadAllAvailable => throw ConnectorError(UnsupportedTrigger, OnceRefused)
    case rows: ReadMaxRows => ReadLimits(Some(rows.maxRows), None)
    case ByteLimit(bytes) => ReadLimits(None, Some(bytes))
    case several: CompositeReadLimit =>
      several.getReadLimits.map(of).foldLeft(ReadLimits.None) { (all, one) =>
        ReadLimits(one.maxRecords.orElse(all.maxRecords), one.maxBytes.orElse(all.maxBytes))
      }
    case _ => ReadLimits.None
  }

  private val UnsupportedTrigger = "KINESIS_UNSUPPORTED_TRIGGER"
  private val OnceRefused =
    "The Kinesis source does not support Trigger.Once (once=True in Python), which Spark " +
      "deprecated in version 3.4. Use Trigger.AvailableNow (availableNow=True in Python): the " +
      "query reads all records that arrived before it started, then stops."
}
