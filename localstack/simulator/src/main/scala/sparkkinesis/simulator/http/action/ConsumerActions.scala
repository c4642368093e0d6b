package sparkkinesis.simulator.http.action

import sparkkinesis.client.ConsumerRef
import sparkkinesis.model.{ConsumerArn, Position, StreamArn}
import sparkkinesis.simulator.fanout.{SubscribeToShard, Subscribed}
import sparkkinesis.simulator.http.response.ConsumerResponses
import sparkkinesis.simulator.http.wire.{BadRequest, Fields}
import sparkkinesis.simulator.operation._

/** The operations of enhanced fan-out: their requests and responses. */
private[http] object ConsumerActions {
  val byName: Map[String, Action[_]] = Map(
    "RegisterStreamConsumer" -> Action(
      f => RegisterStreamConsumer(stream(f), f.text("ConsumerName")),
      new ConsumerResponses(_).registered
    ),
    "DescribeStreamConsumer" -> Action(
      f => DescribeStreamConsumer(reference(f)),
      new ConsumerResponses(_).described
    ),
    "ListStreamConsumers" -> Action(listConsumers, new ConsumerResponses(_).listed),
    "DeregisterStreamConsumer" -> Action(f => DeregisterStreamConsumer(reference(f)), _.nothing),
    // The response is a stream of events: see SubscriptionPush.
    "SubscribeToShard" -> Action[Subscribed](
      f => SubscribeToShard(consumerArn(f), f.shard("ShardId"), position(f)),
      _ => _ => ()
    )
  )

  /** The stream of a request. The operations on consumers accept a stream's ARN only. */
  private def stream(f: Fields): StreamArn = {
    f.text("StreamARN")
    f.stream
  }

  private def reference(f: Fields): ConsumerRef =
    if (f.has("ConsumerARN")) ConsumerRef.ByArn(consumerArn(f))
    else if (!f.has("StreamARN") || !f.has("ConsumerName"))
      throw BadRequest.invalid("Either ConsumerARN or StreamARN and ConsumerName must be given.")
    else ConsumerRef.ByName(f.stream, f.text("ConsumerName"))

  private def consumerArn(f: Fields): ConsumerArn = {
    val text = f.text("ConsumerARN")
    ConsumerArn
      .parse(text)
      .getOrElse(throw f.unfit("consumerARN", text, "the form of a consumer ARN"))
  }

  private def listConsumers(f: Fields): Operation[ConsumersPage] = {
    val created =
      if (f.has("StreamCreationTimestamp")) Some(f.instant("StreamCreationTimestamp")) else None
    val token = f.optionalText("NextToken")
    if (created.nonEmpty && token.nonEmpty)
      throw BadRequest.invalid(
        "NextToken and StreamCreationTimestamp cannot be given together."
      )
    val limit = f.optionalInt("MaxResults").getOrElse(ListStreamConsumers.DefaultLimit)
    ListStreamConsumers(stream(f), created, token, limit)
  }

  private def position(f: Fields): Position = {
    val start = f
      .optionalFields("StartingPosition")
      .getOrElse(throw f.unfit("startingPosition", "null", "not null"))
    start.text("Type") match {
      case "TRIM_HORIZON" => Position.TrimHorizon
      case "LATEST" => Position.Latest
      case "AT_TIMESTAMP" => Position.AtTimestamp(start.instant("Timestamp"))
      case "AT_SEQUENCE_NUMBER" =>
        Position.AtSequenceNumber(start.sequenceNumber("SequenceNumber"))
      case "AFTER_SEQUENCE_NUMBER" =>
        Position.AfterSequenceNumber(start.sequenceNumber("SequenceNumber"))
      case other =>
        throw f.unfit("startingPosition.type", other, "the enum of shard iterator types")
    }
  }
}
