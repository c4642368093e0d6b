package sparkkinesis.simulator.http

import java.io.OutputStream

import scala.reflect.ClassTag

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.databind.JsonNode

import sparkkinesis.client.PutResult
import sparkkinesis.model.{PutEntry, StreamArn}
import sparkkinesis.simulator._

/**
 * Changing operations as requests to the service, written so that `Actions` reads the same back: a
 * journal needs no form of its own.
 */
private[simulator] object Requests {

  /** How each kind of changing operation is kept. A test looks for kinds that are not here. */
  private val kinds: Map[Class[_], Kind[_]] = Map(
    kept[CreateStream]((r, o) => r.stream(o.stream).number("ShardCount", o.shards)),
    kept[DeleteStream]((r, o) => r.stream(o.stream)),
    kept[PutRecord]((r, o) => r.stream(o.stream).entry(o.entry)),
    kept[PutRecords]((r, o) => r.stream(o.stream).list("Records", o.entries)(_.entry(_))),
    kept[SplitShard] { (r, o) =>
      r.stream(o.stream).text("ShardToSplit", o.shard).text("NewStartingHashKey", o.start)
    },
    kept[MergeShards] { (r, o) =>
      r.stream(o.stream).text("ShardToMerge", o.shard).text("AdjacentShardToMerge", o.adjacent)
    },
    kept[UpdateShardCount] { (r, o) =>
      r.stream(o.stream)
        .number("TargetShardCount", o.target)
        .text("ScalingType", "UNIFORM_SCALING")
    }
  )

  /** Whether there is a way to keep operations of the class. */
  def knows(kind: Class[_]): Boolean = kinds.contains(kind)

  /**
   * The operation that does what this one did: of a put, the entries written. `None` where nothing
   * is left of it.
   */
  def settled(operation: Changing[Any], answer: Any): Option[Changing[Any]] =
    (operation, answer) match {
      case (put: PutRecords, results: Seq[_]) => settled(put, results)
      case (PartialPutRecords(put, _), results: Seq[_]) => settled(put, results)
      case (other, _) => Some(other)
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
    val action = Actions.byName.getOrElse(
      name,
      throw new IllegalArgumentException(s"there is no operation '$name'")
    )
    val caller = Option(request.get("StreamARN"))
      .flatMap(arn => StreamArn.parse(arn.asText))
      .fold(Caller(SimulatedKinesis.Region, SimulatedKinesis.Account))(arn =>
        Caller(arn.region, arn.account)
      )
    try action.read(new Fields(request, WireFormat.Cbor, caller))
    catch {
      case bad: BadRequest => throw new IllegalArgumentException(bad.getMessage, bad)
    }
  }

  /** Of the format that requests are in here. */
  def generator(out: OutputStream): JsonGenerator = WireFormat.Cbor.generator(out)

  /** Throws `IOException` where the bytes are not of that format. */
  def parse(bytes: Array[Byte]): JsonNode = WireFormat.Cbor.parse(bytes)

  private final case class Kind[O](writer: (RequestWriter, O) => Any)(implicit tag: ClassTag[O]) {
    def write(request: RequestWriter, operation: Any): Unit = operation match {
      case fitting: O =>
        writer(request, fitting)
        ()
      case other => throw new IllegalStateException(s"$other is no ${tag.runtimeClass}.")
    }
  }

  private def kept[O <: Changing[Any]](
      writer: (RequestWriter, O) => Any
  )(implicit tag: ClassTag[O]): (Class[_], Kind[O]) = tag.runtimeClass -> Kind(writer)
}

/** The members of a request, one after the other. */
private[http] final class RequestWriter(out: JsonGenerator) {

  /** By name too, which is all that `CreateStream` reads. */
  def stream(arn: StreamArn): RequestWriter =
    text("StreamName", arn.name.name).text("StreamARN", arn)

  def text(name: String, value: Any): RequestWriter = {
    out.writeStringField(name, value.toString)
    this
  }

  def number(name: String, value: Long): RequestWriter = {
    out.writeNumberField(name, value)
    this
  }

  def entry(entry: PutEntry): RequestWriter = {
    out.writeBinaryField("Data", entry.data)
    entry.explicitHashKey.foreach(text("ExplicitHashKey", _))
    text("PartitionKey", entry.partitionKey)
  }

  def list[A](name: String, values: Seq[A])(write: (RequestWriter, A) => Any): RequestWriter = {
    out.writeArrayFieldStart(name)
    values.foreach(value => members(write(_, value)))
    out.writeEndArray()
    this
  }

  /** An object of its own. */
  def members(write: RequestWriter => Any): Unit = {
    out.writeStartObject()
    write(this)
    out.writeEndObject()
  }
}
