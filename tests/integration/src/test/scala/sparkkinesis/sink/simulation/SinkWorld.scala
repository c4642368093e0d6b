package sparkkinesis.sink.simulation

import scala.collection.mutable
import scala.util.Random

import sparkkinesis.model.{SequenceNumber, ShardId, StreamName, StreamRef}
import sparkkinesis.simulator.DrawnBehaviour
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.Settings
import sparkkinesis.sink.rate.TargetStream

/** A Kinesis in memory with its streams and the records that landed there, all by the seed. */
final class SinkWorld(seed: Long) {
  val random = new Random(seed)
  val setup = new Setup(seed, random)
  val agenda = new Agenda
  val kinesis = new SimulatedKinesis(
    agenda.clock,
    Settings(quotas = true, listLag = setup.listLag, behaviour = DrawnBehaviour(seed + 4))
  )

  val shards: Map[StreamRef, Shards] = Vector("orders", "refunds")
    .take(setup.streams)
    .map { text =>
      val name = StreamName(text)
      val initial = 1 + random.nextInt(3)
      (StreamRef.ByName(name): StreamRef) -> new Shards(kinesis, random, name, initial)
    }
    .toMap
  val streams: Vector[StreamRef] = shards.keys.toVector

  /** The target streams of each executor. */
  val executors: Vector[Vector[TargetStream]] = Vector.fill(setup.executors)(streams.map(target))

  /** The records in the order in which they took effect. */
  val landed: mutable.ArrayBuffer[Landed] = mutable.ArrayBuffer.empty[Landed]

  /** Requests that reached the service. */
  var reached = 0L
  var rivalRequests = 0L

  /** Whether faults have ended. */
  def isCalm: Boolean = agenda.elapsed >= setup.calmAt

  def fails(): Boolean = random.nextDouble() < setup.faultRate && !isCalm

  /** Time of one way between a writer and the service, in milliseconds. */
  def latency(): Int = 1 + random.nextInt(if (isCalm) 20 else setup.slowest)

  private def target(ref: StreamRef): TargetStream = {
    val stream =
      new TargetStream(
        ref,
        kinesis,
        setup.maxRecordBytes,
        None,
        setup.executors,
        agenda.clock
      )
    stream.shards()
    stream
  }
}

/**
 * A record that the service wrote.
 *
 * @param isLate whether its writer had already given up the request
 */
final class Landed(
    val stream: StreamRef,
    val shard: ShardId,
    val number: SequenceNumber,
    val rows: Vector[FoundRow],
    val isLate: Boolean
) {

  /** Whether its writer knows that it is in the right shard. */
  var isAcknowledged = false
}
