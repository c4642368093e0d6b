package sparkkinesis.simulator.http.response

import sparkkinesis.client.ConsumerSummary
import sparkkinesis.simulator.fanout.SubscriptionEvent
import sparkkinesis.simulator.operation.ConsumersPage

/** Writes the responses of [[ConsumerActions]], and the events of subscriptions. */
private[http] final class ConsumerResponses(answers: Responses) {
  import answers.{array, body, child, format, inObject, out, records}

  def registered(consumer: ConsumerSummary): Unit = body(inObject("Consumer")(fields(consumer)))

  def described(consumer: ConsumerSummary): Unit = body {
    inObject("ConsumerDescription") {
      fields(consumer)
      out.writeStringField("StreamARN", consumer.arn.stream.toString)
    }
  }

  def listed(page: ConsumersPage): Unit = body {
    array("Consumers", page.consumers)(fields)
    page.nextToken.foreach(out.writeStringField("NextToken", _))
  }

  def event(e: SubscriptionEvent): Unit = body {
    records(e.records)
    e.continuation.foreach(n => out.writeStringField("ContinuationSequenceNumber", n.text))
    out.writeNumberField("MillisBehindLatest", e.millisBehindLatest)
    if (e.children.nonEmpty) array("ChildShards", e.children)(child)
  }

  /** An error among the events. Its name is in the headers of the message. */
  def exception(message: String): Unit = body(out.writeStringField("message", message))

  private def fields(consumer: ConsumerSummary): Unit = {
    out.writeStringField("ConsumerName", consumer.arn.name)
    out.writeStringField("ConsumerARN", consumer.arn.toString)
    out.writeStringField("ConsumerStatus", consumer.status.toString.toUpperCase)
    out.writeFieldName("ConsumerCreationTimestamp")
    format.writeMillis(out, consumer.created.toEpochMilli)
  }
}
