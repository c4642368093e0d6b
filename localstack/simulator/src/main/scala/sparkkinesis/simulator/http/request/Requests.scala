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
 * Changing operations as requests to the service, written so that `Actions` reads the same back: a
 * journal needs no form of its own.
 */
private[simulator] object Requests {

  /** How each kind of changing operation is kept. A test looks for kinds that are not here. */
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

  /** What ends with the process: a subscription is a connection. */
  private val skipped: Set[Class[_]] = Set(classOf[SubscribeToShard])

  /** What changes the state and is no operation of the service. */
  private val ours: Map[String, Fields => Operation[Any]] =
    Map("RecreateStream" -> (f => RecreateStream(f.stream)))

  /** Whether there is a way to keep operations of the class. */
  def canStore(kind: Class[_]): Boolean = kinds.contains(kind)

  /** Whether operations of the class are not to be kept. */
  def skips(kind: Class[_]): Boolean = skipped.contains(kind)

  /**
   * The operation that does what this one did: of a put, the entries written. `None` where nothing
   * is left of it.
   */
  def settled(operation: Changing[Any], answer: Any): Option[Changing[Any]] =
    (operation, answer) match {
      case (put: PutRecords, PutAnswer(results: Seq[_], _)) => settled(put, results)
      case (PartialPutRecords(put, _), PutAnswer(results: Seq[_], _)) => settled(put, results)
      case (other, _) => Option.when(!passes(other.getClass))(other)
    }

  private def settled(put: PutRecords, results: Seq[Any]): Option[Changing[Any]] = {
    val written = put.entries.zip(results).collect { case (entry, _: PutResult.Written) => entry }
    Option.when(written.nonEmpty)(put.copy(entries = written))
  }

  /** Writes an object: the request's members. */
  def write(operation: Changing[Any], out: JsonGenerator): Unit = {
    val kind = kinds.getOrElse(
      operation.getClass,
      throw new IllegalStateException(s"${operation.name} cannot be kept: it is not in Requests.")
    )
    new RequestWriter(out).members(kind.write(_, operation))
  }

  /**
   * Throws `IllegalArgumentException` where that is no request for the operation.
   *
   * @param request as `write` wrote it
   */
  def read(name: String, request: JsonNode): Operation[Any] = {
    val reading = ours
      .get(name)
      .orElse(Actions.byName.get(name).map(action => (f: Fields) => action.read(f)))
      .getOrElse(throw new IllegalArgumentException(s"there is no operation '$name'"))
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

  /** Of the format that requests are in here. */
  def generator(out: OutputStream): JsonGenerator = WireFormat.Cbor.generator(out)

  /** Throws `IOException` where the bytes are not of that format. */
  def parse(bytes: Array[Byte]): JsonNode = WireFormat.Cbor.parse(bytes)
}
