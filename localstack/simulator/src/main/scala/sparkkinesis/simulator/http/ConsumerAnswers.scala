package sparkkinesis.simulator.http

import com.fasterxml.jackson.core.JsonGenerator

import sparkkinesis.simulator._

/** The answers of enhanced fan-out; `Answers` writes the events. */
private[http] final class ConsumerAnswers(out: JsonGenerator, format: WireFormat) {
  def registered(consumer: ConsumerSummary): Unit = {
    out.writeStartObject()
    out.writeObjectFieldStart("Consumer")
    fields(consumer)
    out.writeEndObject()
    out.writeEndObject()
  }

  def described(consumer: ConsumerSummary): Unit = {
    out.writeStartObject()
    out.writeObjectFieldStart("ConsumerDescription")
    fields(consumer)
    out.writeStringField("StreamARN", consumer.arn.stream.toString)
    out.writeEndObject()
    out.writeEndObject()
  }

  def listed(page: ConsumersPage): Unit = {
    out.writeStartObject()
    out.writeArrayFieldStart("Consumers")
    page.consumers.foreach { consumer =>
      out.writeStartObject()
      fields(consumer)
      out.writeEndObject()
    }
    out.writeEndArray()
    page.nextToken.foreach(out.writeStringField("NextToken", _))
    out.writeEndObject()
  }

  /** `SubscriptionPush` answers in its own way. */
  val subscribed: Subscribed => Unit = _ => ()

  private def fields(consumer: ConsumerSummary): Unit = {
    out.writeStringField("ConsumerName", consumer.arn.name)
    out.writeStringField("ConsumerARN", consumer.arn.toString)
    out.writeStringField("ConsumerStatus", consumer.status.toString.toUpperCase)
    out.writeFieldName("ConsumerCreationTimestamp")
    format.writeMillis(out, consumer.created.toEpochMilli)
  }
}
