package sparkkinesis.sink.simulation

import scala.util.Random

import sparkkinesis.client.PutResult
import sparkkinesis.model.ShardId

/** Results of which every record was written, as the client for AWS returns them. */
final class CompactAnswer private (results: IndexedSeq[PutResult.Written])
    extends PutResult.AllWritten {
  override def apply(i: Int): PutResult = results(i)
  override def length: Int = results.length

  override def areIn(shard: ShardId, from: Int, until: Int): Boolean =
    results.slice(from, until).forall(_.shard == shard)
}

object CompactAnswer {

  /** The same results, sometimes in the compact form if every record was written. */
  def sometimes(results: Seq[PutResult], random: Random): Seq[PutResult] = {
    val written = results.collect { case it: PutResult.Written => it }
    if (random.nextBoolean() && written.size == results.size) new CompactAnswer(written.toVector)
    else results
  }
}
