package sparkkinesis.simulator.http.request

import sparkkinesis.client.ConsumerRef
import sparkkinesis.simulator.operation.{DeregisterStreamConsumer, RegisterStreamConsumer}

/** Writes operations of enhanced fan-out as requests that `ConsumerActions` reads. */
private[http] object ConsumerRequests {
  val kinds: Map[Class[_], Kind[_]] = Map(
    Kind.of[RegisterStreamConsumer] { (r, o) =>
      r.stream(o.stream).text("ConsumerName", o.consumer)
    },
    Kind.of[DeregisterStreamConsumer]((r, o) => consumer(r, o.consumer))
  )

  private def consumer(r: RequestWriter, consumer: ConsumerRef): RequestWriter = consumer match {
    case ConsumerRef.ByArn(arn) => r.text("ConsumerARN", arn)
    case ConsumerRef.ByName(stream, name) => r.stream(stream).text("ConsumerName", name)
  }
}
