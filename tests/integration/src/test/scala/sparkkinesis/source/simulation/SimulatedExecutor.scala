package sparkkinesis.source.simulation

import scala.concurrent.duration._
import scala.util.Try

import sparkkinesis.model.StreamArn
import sparkkinesis.shard.feed.{FeedCounts, ReadStep}
import sparkkinesis.shard.{FetchMemory, StreamClient}
import sparkkinesis.source.fetch.{FetchCommand, FetchLoop, FetchedPage, ShardFetcher}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.PageStore

/**
 * A service of an executor without threads. The seed decides when a run begins, when the executor
 * hears of its result, and when it hears of an answer of the driver: plans arrive while calls are
 * in flight.
 *
 * @param service tells apart the services of the executor
 * @param send a status to the driver; without an answer, its reports are sent again
 * @param onReport called with each page that was read
 */
final class SimulatedExecutor(
    id: String,
    service: String,
    world: World,
    settings: FetchSettings,
    clients: Map[StreamArn, StreamClient],
    send: Heartbeat => Option[HeartbeatReply],
    onReport: FetchReport => Unit = _ => ()
) {
  import world._

  private val memoryBytes = settings.bufferBytes.getOrElse(0L)
  val store = new PageStore(new FetchMemory().join(memoryBytes), settings.spillBytes, newDisk())
  private val counts = FeedCounts.Unread
  private val loop: FetchLoop = new FetchLoop(
    id,
    "localhost",
    service,
    "orders",
    settings,
    store,
    newFetcher,
    counts,
    () => random.nextDouble()
  )
  private var wanted = Vector.empty[ShardFetcher] // runs that have not begun
  private var events = Vector.empty[() => Vector[FetchCommand]] // that it has not heard of

  override def toString: String = s"$service: $loop"

  /** Whether it has ended: no other one has begun in its place. */
  def hasFinished: Boolean = loop.hasFinished

  def work(): Unit = {
    push()
    hear()
    carryOut(loop.tick(clock.moment))
    // As many turns as there would be in a second, or fewer.
    var turns = if (isCalm) MostTurns else random.nextInt(3)
    do {
      val (begun, later) = random.shuffle(wanted).partition(_ => isCalm || random.nextInt(4) > 0)
      wanted = later
      begun.foreach(run)
      hear()
      turns -= 1
    } while (turns > 0 && wanted.nonEmpty)
    require(
      store.bytes <= memoryBytes + largestPage && store.spilledBytes <= settings.spillBytes,
      s"$this of $memoryBytes B, ${store.spilledBytes} B on disk of ${settings.spillBytes} B"
    )
  }

  /** It sends a heartbeat, if none is on its way. */
  def heartbeat(): Unit = {
    carryOut(loop.hurry(clock.moment))
    hear()
  }

  private def MostTurns = 8

  private def run(fetcher: ShardFetcher): Unit = {
    clock.advance(random.nextInt(100).millis)
    push()
    val begin = clock.moment
    val result = Try(fetcher.run(begin))
    result.foreach {
      case ReadStep.Read(FetchedPage(report, _, _), _) => onReport(report)
      case _ =>
    }
    events :+= (() => loop.ran(fetcher, result, begin, clock.moment))
  }

  private def hear(): Unit = {
    val (heard, later) = random.shuffle(events).partition(_ => isCalm || random.nextInt(4) > 0)
    events = later
    heard.foreach(event => carryOut(event()))
  }

  private def carryOut(commands: Vector[FetchCommand]): Unit = commands.foreach {
    case FetchCommand.Run(fetcher) => wanted :+= fetcher
    case FetchCommand.Beat(status) =>
      val reply = send(status)
      events :+= (() => loop.replied(status, reply, clock.moment))
    case FetchCommand.Finish => store.close()
  }

  private def newFetcher(assignment: Assignment, settings: FetchSettings): ShardFetcher = {
    lazy val fetcher: ShardFetcher = new ShardFetcher(
      clients(assignment.shard.stream),
      assignment,
      store,
      settings,
      () => random.nextDouble(),
      counts,
      () => events :+= (() => loop.news(fetcher, clock.moment))
    )
    fetcher
  }
}
