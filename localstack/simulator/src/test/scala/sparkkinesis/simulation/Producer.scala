package sparkkinesis.simulation

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.simulator._
import sparkkinesis.source.ShardDiscovery

/** Writes numbered records of a few keys, and splits and merges the stream's shards. */
final class Producer(kinesis: SimulatedKinesis, clock: SimulatedClock, random: Random) {
  private val name = StreamName("orders")
  val stream: StreamRef = StreamRef.ByName(name)
  private val numbers = mutable.Map.empty[String, Vector[Int]].withDefaultValue(Vector.empty)
  private var arrivals = Vector.empty[Long] // of each number

  kinesis.createStream(name, 1 + random.nextInt(3))

  /** The numbers of each key, in the order they were written. */
  def written: Map[String, Seq[Int]] = numbers.toMap

  /** The same, of those that had arrived at the time. */
  def writtenBy(millis: Long): Map[String, Seq[Int]] =
    written.map { case (key, all) => key -> all.filter(arrivals(_) <= millis) }

  /** The same, of those that arrived later. */
  def writtenAfter(millis: Long): Map[String, Seq[Int]] =
    written.map { case (key, all) => key -> all.filter(arrivals(_) > millis) }

  /** What was written so far does not concern the query. */
  def forget(): Unit = numbers.clear()

  def actAtRandom(): Unit = random.nextInt(10) match {
    case 0 | 1 => split()
    case 2 | 3 => merge()
    case _ => put(1 + random.nextInt(20))
  }

  private def put(count: Int): Unit = for (_ <- 0 until count) {
    val key = s"key${random.nextInt(8)}"
    val number = arrivals.size
    kinesis.putRecord(name, PutEntry(key, s"$key:$number".getBytes, None))
    numbers.update(key, numbers(key) :+ number)
    arrivals :+= clock.now.toEpochMilli
    clock.advance(random.nextInt(50).millis)
  }

  private def openShards: Seq[Shard] =
    ShardDiscovery.listAll(kinesis, stream, ShardFilter.AtLatest).shards.sortBy(_.hashKeys.first)

  private def split(): Unit = {
    val open = openShards
    if (open.size < 6) {
      val shard = open(random.nextInt(open.size))
      val middle = (shard.hashKeys.first.value + shard.hashKeys.last.value) / 2 + 1
      kinesis.splitShard(name, shard.id, HashKey(middle))
    }
  }

  private def merge(): Unit = {
    val pairs = openShards.sliding(2).collect { case Seq(a, b) => (a, b) }.toSeq
    if (pairs.nonEmpty) {
      val (a, b) = pairs(random.nextInt(pairs.size))
      kinesis.mergeShards(name, a.id, b.id)
    }
  }
}
