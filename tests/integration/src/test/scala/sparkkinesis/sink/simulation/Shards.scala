package sparkkinesis.sink.simulation

import scala.util.Random

import sparkkinesis.client.KinesisException
import sparkkinesis.model.{HashKey, HashKeyRange, ShardId, StreamName}
import sparkkinesis.simulator.service.SimulatedKinesis

/** The true shards of a stream, whatever listings show. Splits and merges them. */
final class Shards(kinesis: SimulatedKinesis, random: Random, name: StreamName, initial: Int) {
  private var all = Vector.empty[HashKeyRange]
  private var open = Vector.empty[Int] // by hash key

  kinesis.createStream(name, initial)
  open = HashKeyRange.even(initial).map(add).toVector

  /** The hash keys of a shard, open or closed. */
  def range(shard: ShardId): HashKeyRange = all(shard.number.get.toInt)

  /** A random shard, open or closed. */
  def any(): ShardId = id(random.nextInt(all.size))

  def ids: Seq[ShardId] = all.indices.map(id)

  /** One change, or up to three at once. */
  def change(): Unit = try
    for (_ <- 0 to random.nextInt(3))
      if (open.size > 1 && (open.size > 5 || random.nextBoolean())) merge() else split()
  catch { case _: KinesisException.LimitExceeded => () } // too many in one second

  private def split(): Unit = {
    val at = random.nextInt(open.size)
    val range = all(open(at))
    val width = range.last.value - range.first.value
    val start = HashKey(range.first.value + width * (1 + random.nextInt(9)) / 10)
    kinesis.splitShard(name, id(open(at)), start)
    val (low, high) = range.splitAt(start)
    open = open.patch(at, Seq(add(low), add(high)), 1)
  }

  private def merge(): Unit = {
    val at = random.nextInt(open.size - 1)
    kinesis.mergeShards(name, id(open(at)), id(open(at + 1)))
    open = open.patch(at, Seq(add(all(open(at)).merge(all(open(at + 1))))), 2)
  }

  private def add(range: HashKeyRange): Int = {
    all :+= range
    all.size - 1
  }

  private def id(number: Int) = ShardId(f"shardId-$number%012d")
}
