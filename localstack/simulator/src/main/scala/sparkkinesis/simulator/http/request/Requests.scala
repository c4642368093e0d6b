package sparkkinesis.simulator.http.request

import java.io.OutputStream

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.databind.JsonNode

import sparkkinesis.client.PutResult
import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.fanout.SubscribeToShard
import sparkkinesis.simulator.http.action.Actions
import sparkkinesis.simulator.http.wire.{BadRequest, Caller, Fields, WireFormat}
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.service.SimulatedKinesis

/**
 * Writes changing operations as requests to the service, and reads them with `Actions`, so that a
 * journal needs no format of its own.
 */
private[simulator] object Requests {

  /** How to write each kind of changing operation. A test looks for kinds that are missing here. */
  private val kinds: Map[Class[_], Kind[_]] = Map(
    Kind.of[CreateStream]((r, o) => ControlRequests.create(r, o)),
    Kind.of[DeleteStream] { (r, o) =>
      r.stream(o.stream).mark("EnforceConsumerDeletion", o.withConsumers)
    },
    Kind.of[PutRecord]((r, o) => r.stream(o.stream).entry(o.entry)),
    Kind.of[PutRecords]((r, o) => r.stream(o.stream).list("Records", o.entries)(_.entry(_))),
    Kind.of[SplitShard] { (r, o) =>
      r.stream(o.stream).text("ShardToSplit", o.shard).text("NewStartingHashKey", o.start)
    },
    Kind.of[MergeShards] { (r, o) =>
      r.stream(o.stream).text("ShardToMerge", o.shard).text("AdjacentShardToMerge", o.adjacent)
    },
    Kind.of[UpdateShardCount] { (r, o) =>
      r.stream(o.stream)
        .number("TargetShardCount", o.target)
        .text("ScalingType", "UNIFORM_SCALING")
    },
    Kind.of[RecreateStream]((r, o) => r.stream(o.stream))
  ) ++ ControlRequests.kinds ++ ConsumerRequests.kinds

  /** Operations whose effect ends with the process: a subscription is a connection. */
  private val skipped: Set[Class[_]] = Set(classOf[SubscribeToShard])

  /** Operations that change the state, but are not part of the service. */
  private val ours: Map[String, Fields => Operation[Any]] =
    Map("RecreateStream" -> (f => RecreateStream(f.stream)))

  /** Whether operations of the class can be written. */
  def canStore(kind: Class[_]): Boolean = kinds.contains(kind)

  /** Whether operations of the class need not be stored. */
  def skips(kind: Class[_]): Boolean = skipped.contains(kind)

  /**
   * Returns the operation to store, which has the same effect when it is repeated: for a put, only
   * the entries that were written. `None` if it had no effect.
   */
  def settled(operation: Changing[Any], answer: Any): Option[Changing[Any]] =
    (operation, answer) match {
      case (put: PutRecords, PutAnswer(results: Seq[_], _)) => settled(put, results)
      case (PartialPutRecords(put, _, _, order), PutAnswer(results: Seq[_], _)) =>
        val entries = put.entries.toIndexedSeq
        settled(put.copy(entries = order.map(entries)), order.map(results.toIndexedSeq))
      case (other, _) => Option.when(!skips(other.getClass))(other)
    }

  private def settled(put: PutRecords, results: Seq[Any]): Option[Changing[Any]] = {
    val written = put.entries.zip(results).collect { case (entry, _: PutResult.Written) => entry }
    Option.when(written.nonEmpty)(put.copy(entries = written))
  }

  /** Writes an object with the members of the request. */
  def write(operation: Changing[Any], out: JsonGenerator): Unit = {
    val kind = kinds.getOrElse(
      operation.getClass,
      throw new IllegalStateException(s"${operation.name} cannot be stored: add it to Requests.")
    )
    new RequestWriter(out).members(kind.write(_, operation))
  }

  /**
   * Reads an operation. Throws `IllegalArgumentException` if the request is invalid.
   *
   * @param request a request from `write`
   */
  def read(name: String, request: JsonNode): Operation[Any] = {
    val reading = ours
      .get(name)
      .orElse(Actions.byName.get(name).map(action => (f: Fields) => action.read(f)))
      .getOrElse(throw new IllegalArgumentException(s"unknown operation '$name'"))
    val caller = Option(request.get("StreamARN"))
      .flatMap(arn => StreamArn.parse(arn.asText))
      .fold(Caller(SimulatedKinesis.Region, SimulatedKinesis.Account))(arn =>
        Caller(arn.region, arn.account)
      )
    try reading(new Fields(request, WireFormat.Cbor, caller))
    catch {
      case bad: BadRequest => throw new IllegalArgumentException(bad.getMessage, bad)
    }
  }

  /** A generator of the requests' format. */
  def generator(out: OutputStream): JsonGenerator = WireFormat.Cbor.generator(out)

  /** Parses a request. Throws `IOException` if the bytes have another format. */
  def parse(bytes: Array[Byte]): JsonNode = WireFormat.Cbor.parse(bytes)
}
