package sparkkinesis.spark.read.task

import sparkkinesis.model.{PackedRecords, StreamShard}

/** A row that moves over the records of pages. */
trait PageRow {

  /** Starts a page: `next` then moves to its first record. */
  def read(shard: StreamShard, page: PackedRecords): Unit

  /** Whether there is another row in the page. */
  def next(): Boolean
}
