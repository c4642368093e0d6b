package sparkkinesis.source.simulation

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.KplAggregates
import sparkkinesis.KplAggregates.SubRecord
import sparkkinesis.client.{KinesisException, ShardFilter, ShardLister, StreamStatus}
import sparkkinesis.model.{HashKey, PutEntry, Shard, StreamName, StreamRef}
import sparkkinesis.simulator.ArrivalTime
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}

/**
 * Writes numbered records of a few keys into one stream, and splits and merges its shards.
 *
 * @param name of the stream, and the prefix of its keys
 * @param padding bytes that make the next record larger
 * @param isScaled whether it also changes the number of shards, by several splits and merges
 */
final class Producer(
    kinesis: SimulatedKinesis,
    clock: SimulatedClock,
    random: Random,
    name: StreamName,
    padding: () => Int = () => 0,
    isScaled: Boolean = false
) {
  val stream: StreamRef = StreamRef.ByName(name)
  private val numbers = mutable.Map.empty[String, Vector[Int]].withDefaultValue(Vector.empty)
  private var arrivals = Vector.empty[Long] // of each number

  kinesis.createStream(name, 1 + random.nextInt(3))

  /** The numbers of each key, in the order they were written. */
  def written: Map[String, Seq[Int]] = numbers.toMap

  /** Whether the key is one of this stream. */
  def owns(key: String): Boolean = key.startsWith(s"$name-")

  def arrivalMillis(number: Int): Long = arrivals(number)

  /** Only the records that had arrived at the time. */
  def writtenBy(millis: Long): Map[String, Seq[Int]] =
    written.map { case (key, all) => key -> all.filter(arrivals(_) <= millis) }

  /** Only the records that arrived later. */
  def writtenAfter(millis: Long): Map[String, Seq[Int]] =
    written.map { case (key, all) => key -> all.filter(arrivals(_) > millis) }

  /** Forgets the records written so far: the query does not read them. */
  def forget(): Unit = numbers.clear()

  def actAtRandom(): Unit = random.nextInt(10) match {
    case 0 | 1 => if (isScaled && random.nextBoolean()) scale() else split()
    case 2 | 3 => merge()
    case _ => for (_ <- 0 until 1 + random.nextInt(20)) put()
  }

  /** One Kinesis record: plain, or an aggregate of several records of the key. */
  private def put(): Unit = {
    val key = s"$name-${random.nextInt(8)}"
    val all = (0 until (if (random.nextInt(4) == 0) 1 + random.nextInt(5) else 0)).toVector
    val first = arrivals.size
    val data =
      if (all.isEmpty) padded(text(key, first))
      else KplAggregates(all.map(n => SubRecord(s"$key/$n", text(key, first + n).toVector)))
    val written = kinesis.putRecord(name, PutEntry(key, data, None))
    val count = math.max(1, all.size)
    numbers.update(key, numbers(key) ++ (first until first + count))
    arrivals ++= Vector.fill(count)(ArrivalTime.of(kinesis, name, written))
    clock.advance(random.nextInt(50).millis)
  }

  private def padded(text: Array[Byte]): Array[Byte] = {
    val bytes = padding()
    if (bytes > 0) clock.advance(1.second) // the quota of writers
    text.padTo(text.length + bytes, ' '.toByte)
  }

  private def text(key: String, number: Int) = s"$key:$number".getBytes(UTF_8)

  /** The shards that the listing calls open. A late listing may contain closed ones. */
  private def openShards: Seq[Shard] =
    ShardLister
      .list(kinesis, stream, ShardFilter.AtLatest)
      .shards
      .sortBy(_.hashKeys.first)

  private def split(): Unit = {
    val open = openShards
    if (open.size < 6) {
      val shard = open(random.nextInt(open.size))
      val middle = (shard.hashKeys.first.value + shard.hashKeys.last.value) / 2 + 1
      ifPossible(kinesis.splitShard(name, shard.id, HashKey(middle)))
    }
  }

  private def merge(): Unit = {
    val pairs = openShards.sliding(2).collect { case Seq(a, b) => (a, b) }.toSeq
    if (pairs.nonEmpty) {
      val (a, b) = pairs(random.nextInt(pairs.size))
      ifPossible(kinesis.mergeShards(name, a.id, b.id))
    }
  }

  private def scale(): Unit = {
    val open = openShards.size
    val target = (open + 1) / 2 + random.nextInt(2 * open - (open + 1) / 2 + 1)
    ifPossible(kinesis.beginScaling(name, math.min(target, 6)))
  }

  /** Waits until no split or merge is due. */
  def settle(): Unit =
    while (kinesis.describeStream(stream).status == StreamStatus.Updating) clock.advance(1.second)

  private def ifPossible(reshard: => Unit): Unit =
    try reshard
    catch { // The shard is closed already, or the stream or the account may not be resharded yet.
      case _: KinesisException.InvalidArgument | _: KinesisException.LimitExceeded |
          _: KinesisException.InUse =>
    }
}
