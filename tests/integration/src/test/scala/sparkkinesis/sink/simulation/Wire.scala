package sparkkinesis.sink.simulation

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.ShardMap
import sparkkinesis.sink.lane.Request
import sparkkinesis.sink.once.{Hash128, ShardInDoubt}
import sparkkinesis.sink.rate.TargetStream

/** The network between a writer and the service. Answers arrive later, or never. */
private[simulation] trait Wire {
  def put(stream: TargetStream, request: Request)(
      answered: Either[KinesisException, Seq[PutResult]] => Unit
  ): Unit

  def list(stream: TargetStream, stale: ShardMap)(
      answered: Either[KinesisException, ShardMap] => Unit
  ): Unit

  /** Asks which aggregates of the writer are in these shards. Only for exactly once. */
  def recover(shards: Seq[ShardInDoubt])(answered: Set[Hash128] => Unit): Unit =
    throw new IllegalArgumentException(s"$answered: this writer never looks into $shards")
}
