package sparkkinesis.source

import scala.concurrent.duration._

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.model.Position
import sparkkinesis.model.offset.{SourceOffset, StreamOffset}
import sparkkinesis.shard.{ReadSettings, StreamClient}
import sparkkinesis.source.checkpoint.ShardDiscovery
import sparkkinesis.source.fetch.FetchService
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.ReadAheadDriver
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.source.store.{PageStore, SpillSpace}

/** A query that reads a stream ahead: the driver's driver, and one executor's service. */
class ReadAheadFixture(
    access: StreamClient,
    start: StreamOffset,
    settings: FetchSettings,
    disk: SpillSpace = SpillSpace.Off
) extends AutoCloseable {
  val begin: SourceOffset = SourceOffset.of(Seq(start))
  val driver = new ReadAheadDriver(1.minute)
  driver.advance(begin, begin)
  private val service: FetchService = new FetchService(
    "a",
    "localhost",
    Map(start.stream -> access),
    () => (),
    settings,
    driver.answer(_),
    SystemClock,
    spill = disk
  ).start()

  def store: PageStore = service.store

  override def close(): Unit = service.close()
}

object ReadAheadFixture {
  val Settings: FetchSettings = FetchSettings(
    ReadSettings(10, 1.milli, 5.millis),
    bufferBytes = Some(100000),
    spillBytes = 0,
    limits = ReadLimits.None
  )

  /** The offset of a query that starts with the oldest record of each shard. */
  def oldest(access: StreamClient, clock: Clock = SystemClock): StreamOffset =
    ShardDiscovery.initialOffset(access, ByShard(Position.TrimHorizon), clock)
}
