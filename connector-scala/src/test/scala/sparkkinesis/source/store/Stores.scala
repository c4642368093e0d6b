package sparkkinesis.source.store

import java.time.Instant

import sparkkinesis.Generators.shardOf
import sparkkinesis.model.{PackedRecords, Record}
import sparkkinesis.shard.{FetchMemory, ShardRange}
import sparkkinesis.source.options.FetchSettings

/** Stores of tests, and how tests read them. */
object Stores {

  /** Alone on its executor, without a disk. */
  def inMemory(bytes: Long): PageStore = new PageStore(new FetchMemory().join(bytes))

  /** As a fetch service with these settings has it, without a disk. */
  def of(settings: FetchSettings): PageStore = inMemory(settings.bufferBytes.getOrElse(0L))

  /** Fills the memory for so long that pages go to disk, until they are dropped. */
  def openDisk(store: PageStore): Unit = Seq(2000L, 0L).foreach { before =>
    store.reserve(shardOf(0), Int.MaxValue, 1, Instant.EPOCH.minusMillis(before))
    store.release(shardOf(0))
  }

  /** The records of a page in memory. */
  def recordsOf(page: StoredPage): PackedRecords = page.inMemory.get

  /** All records of the range; `None` if a part is missing. */
  def records(store: PageStore, range: ShardRange): Option[Vector[Record]] =
    store.parts(range).map(_.map(_.records)).filter(_.forall(_.nonEmpty)).map(_.flatten.flatten)
}
