package sparkkinesis.simulator.http.request

import scala.reflect.ClassTag

import com.fasterxml.jackson.core.JsonGenerator

import sparkkinesis.model.{PutEntry, StreamArn}
import sparkkinesis.simulator.operation.Changing
import sparkkinesis.simulator.state.StreamMode

/** Writes the operations of one class as requests. */
private[http] final class Kind[O](writer: (RequestWriter, O) => Any)(implicit tag: ClassTag[O]) {
  def write(request: RequestWriter, operation: Any): Unit = operation match {
    case fitting: O =>
      writer(request, fitting)
      ()
    case other => throw new IllegalStateException(s"$other is no ${tag.runtimeClass}.")
  }
}

private[http] object Kind {

  /** An entry of the table of all kinds. */
  def of[O <: Changing[Any]](
      writer: (RequestWriter, O) => Any
  )(implicit tag: ClassTag[O]): (Class[_], Kind[O]) = tag.runtimeClass -> new Kind(writer)
}

/** Writes the members of a request, one after the other. */
private[http] final class RequestWriter(out: JsonGenerator) {

  /** Writes the name besides the ARN, because `CreateStream` reads only the name. */
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

  /** Writes `true` if the flag is set. A missing member means `false`. */
  def mark(name: String, isSet: Boolean): RequestWriter = {
    if (isSet) out.writeBooleanField(name, true)
    this
  }

  def entry(entry: PutEntry): RequestWriter = {
    out.writeBinaryField("Data", entry.data)
    entry.explicitHashKey.foreach(text("ExplicitHashKey", _))
    if (entry.partitionKey.isEmpty) this else text("PartitionKey", entry.partitionKey)
  }

  def texts(name: String, values: Seq[String]): RequestWriter = {
    out.writeArrayFieldStart(name)
    values.foreach(value => out.writeString(value))
    out.writeEndArray()
    this
  }

  def tags(tags: Map[String, String]): RequestWriter = {
    out.writeFieldName("Tags")
    members(request => tags.foreach { case (key, value) => request.text(key, value) })
    this
  }

  def mode(mode: StreamMode): RequestWriter = {
    out.writeFieldName("StreamModeDetails")
    members(_.text("StreamMode", mode.name))
    this
  }

  def list[A](name: String, values: Seq[A])(write: (RequestWriter, A) => Any): RequestWriter = {
    out.writeArrayFieldStart(name)
    values.foreach(value => members(write(_, value)))
    out.writeEndArray()
    this
  }

  /** Writes the members as an object. */
  def members(write: RequestWriter => Any): Unit = {
    out.writeStartObject()
    write(this)
    out.writeEndObject()
  }
}
