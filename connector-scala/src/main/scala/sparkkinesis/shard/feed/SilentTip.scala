package sparkkinesis.shard.feed

import sparkkinesis.client.Page
import sparkkinesis.model.ServiceLimits

/**
 * Finds the tip of a shard on servers that do not send `MillisBehindLatest`, where a query that
 * ends at the tip would read for ever. Kinesis sends the value with each page. Used by one thread
 * at a time.
 *
 * One empty page proves nothing, because a record may be visible a moment later. Twenty in a row
 * are taken for the tip if they took four seconds, as they do at five calls per second: a reader
 * that calls more often must not overtake records that were written before.
 */
private[sparkkinesis] final class SilentTip {
  import SilentTip._

  private var emptyPages = 0 // in a row, without the value
  private var since = 0L

  /**
   * @param now in milliseconds since any instant
   * @return the page, perhaps with the information that it is at the tip
   */
  def judge(page: Page, now: Long): Page =
    if (page.records.nonEmpty || page.millisBehindLatest.nonEmpty || page.next.isEmpty) {
      emptyPages = 0
      page
    } else {
      if (emptyPages == 0) since = now
      emptyPages += 1
      val isTip = emptyPages >= ManyPages && now - since >= LongTime.toMillis
      if (isTip) page.copy(millisBehindLatest = Some(0)) else page
    }
}

private[sparkkinesis] object SilentTip {
  private val ManyPages = 20
  private val LongTime = ServiceLimits.GetRecordsPeriod * ManyPages.toLong
}
