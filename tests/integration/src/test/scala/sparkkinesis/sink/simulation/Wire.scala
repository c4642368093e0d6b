package sparkkinesis.sink.simulation

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.ShardMap
import sparkkinesis.sink.lane.Request
import sparkkinesis.sink.rate.TargetStream

/** The way from a writer to the service and back. Answers come later, or never. */
private[simulation] trait Wire {
  def put(stream: TargetStream, request: Request)(
      told: Either[KinesisException, Seq[PutResult]] => Unit
  ): Unit

  def list(stream: TargetStream, stale: ShardMap)(
      told: Either[KinesisException, ShardMap] => Unit
  ): Unit
}
