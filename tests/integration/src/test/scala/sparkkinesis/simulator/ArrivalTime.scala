package sparkkinesis.simulator

import java.time.Instant

import sparkkinesis.client.PutResult
import sparkkinesis.model.{StreamArn, StreamName}
import sparkkinesis.simulator.operation.ReadOnly
import sparkkinesis.simulator.service.{LocalAccount, SimulatedKinesis}
import sparkkinesis.simulator.state.{Failure, State}

/** The arrival time of a record in milliseconds, even if readers do not see the record yet. */
final case class ArrivalTime private (stream: StreamArn, written: PutResult.Written)
    extends ReadOnly[Long] {

  override def answer(state: State, now: Instant): Either[Failure, Long] =
    for {
      found <- state.existing(stream, now)
      shard <- found.find(written.shard, now).toRight(State.noShard(stream, written.shard))
    } yield shard.arrivalMillis(shard.positionAt(written.sequenceNumber)).get
}

object ArrivalTime {
  def of(kinesis: SimulatedKinesis, stream: StreamName, written: PutResult.Written): Long =
    kinesis
      .prepare(ArrivalTime(LocalAccount.arn(stream), written))
      .fold(failure => throw new IllegalStateException(s"$failure"), identity)
}
