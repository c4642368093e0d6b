package sparkkinesis.simulator.http.request

import scala.reflect.ClassTag

import com.fasterxml.jackson.core.JsonGenerator

import sparkkinesis.model.{PutEntry, StreamArn}
import sparkkinesis.simulator.operation.Changing
import sparkkinesis.simulator.state.StreamMode

/** How the operations of one class become requests. */
private[http] final class Kind[O](writer: (RequestWriter, O) => Any)(implicit tag: ClassTag[O]) {
  def write(request: RequestWriter, operation: Any): Unit = operation match {
    case fitting: O =>
      writer(request, fitting)
      ()
    case other => throw new IllegalStateException(s"$other is no ${tag.runtimeClass}.")
  }
}

private[http] object Kind {

  /** An entry of a table by class. */
  def of[O <: Changing[Any]](
      writer: (RequestWriter, O) => Any
  )(implicit tag: ClassTag[O]): (Class[_], Kind[O]) = tag.runtimeClass -> new Kind(writer)
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

  /** Where it is set: left out it means no. */
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

  /** An object of its own. */
  def members(write: RequestWriter => Any): Unit = {
    out.writeStartObject()
    write(this)
    out.writeEndObject()
  }
}
