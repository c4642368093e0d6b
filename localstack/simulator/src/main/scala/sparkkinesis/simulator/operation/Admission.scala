package sparkkinesis.simulator.operation

import sparkkinesis.model.{PutEntry, ShardId, StreamArn}

/** Asked once for each record, in order, before it is written; what it lets in, it has counted. */
trait Admission {

  /** Why the shard does not take the record now; `None` where it does. */
  def refusal(stream: StreamArn, shard: ShardId, entry: PutEntry): Option[String]
}

object Admission {
  val All: Admission = (_, _, _) => None
}
