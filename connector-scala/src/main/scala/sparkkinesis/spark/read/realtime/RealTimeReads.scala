package sparkkinesis.spark.read.realtime

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.fetch.FetchService
import sparkkinesis.source.realtime.{RealTimeLink, RealTimeShards}
import sparkkinesis.source.store.PageStore
import sparkkinesis.spark.read.task.{DriverHeartbeats, FetchServices, PerRun, QueryRun}

/**
 * A real-time query on this executor: the service that reads its shards, and the pages that its
 * tasks have not taken.
 */
private[read] final class RealTimeReads(
    val service: FetchService,
    override val shards: RealTimeShards
) extends RealTimePages {
  override def store: PageStore = service.store
  override def drop(shard: StreamShard, upTo: Progress): Unit = service.drop(shard, upTo)
  override def countReread(): Unit = service.countReread()
  override def hurry(): Unit = service.hurry()

  def isRunning: Boolean = service.isRunning && !shards.hasClosed
}

/** The reads of this JVM, one per query run. Safe for many threads. */
private[sparkkinesis] object RealTimeReads {
  private val all = new PerRun[RealTimeReads](_.isRunning)

  /** The run's reads in this JVM. Starts them if none are running. */
  def ensure(run: QueryRun): RealTimeReads = all.ensure(run.id)(start(run))

  /** Number of runs that have not ended. */
  def count: Int = all.count

  private def start(run: QueryRun): RealTimeReads = {
    val shards = new RealTimeShards(SystemClock)
    val link = new RealTimeLink(shards, new DriverHeartbeats(run.id), SystemClock)
    // Pages that no task has taken wait in Kinesis: they would be no faster on disk.
    val ofRun = run.copy(options = run.options.copy(fetch = run.options.fetch.copy(spillBytes = 0)))
    def ended(service: FetchService): Unit = {
      shards.close()
      all.ended(run.id)(_.service eq service)
    }
    new RealTimeReads(FetchServices.start(ofRun, link, ended(_), shards.report(_)), shards)
  }
}
