package sparkkinesis.spark.read

import org.apache.spark.sql.connector.read.streaming._

import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.spark.write.ByteLimit

/** A batch's limits, between Spark's words and the source's. */
private[spark] object TriggerLimits {

  /**
   * What a source without limits has. Not Spark's own word for that, which is what Spark says with
   * `Trigger.Once` and with no other trigger, whatever the limits are.
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

  def of(limit: ReadLimit): ReadLimits = limit match {
    case rows: ReadMaxRows => ReadLimits(Some(rows.maxRows), None)
    case ByteLimit(bytes) => ReadLimits(None, Some(bytes))
    case several: CompositeReadLimit =>
      several.getReadLimits.map(of).foldLeft(ReadLimits.None) { (all, one) =>
        ReadLimits(one.maxRecords.orElse(all.maxRecords), one.maxBytes.orElse(all.maxBytes))
      }
    case _ => ReadLimits.None
  }

  /** Whether one batch is to have all there is: `Trigger.Once`. */
  def isOnce(limit: ReadLimit): Boolean = limit.isInstanceOf[ReadAllAvailable]
}
