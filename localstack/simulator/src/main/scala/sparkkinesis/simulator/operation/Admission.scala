package sparkkinesis.simulator.operation

import sparkkinesis.model.{PutEntry, ShardId, StreamArn}

/**
 * Decides for each record, in order, whether its shard accepts it now. Called once per record, and
 * counts those that it admits.
 */
trait Admission {

  /** Returns why the shard refuses the record now; `None` if it accepts the record. */
  def refusal(stream: StreamArn, shard: ShardId, entry: PutEntry): Option[String]
}

object Admission {
  val All: Admission = (_, _, _) => None
}
