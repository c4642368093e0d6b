package sparkkinesis.source.checkpoint

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model.{ConsumerArn, Position, StreamArn, StreamRef}
import sparkkinesis.source.options.ConsumerChoice

/**
 * The consumer of enhanced fan-out that a query reads a stream with. Registers it if the options
 * name a consumer that does not exist, and waits until it is active. Never deregisters it.
 */
private[sparkkinesis] final class ConsumerRegistration(
    kinesis: KinesisClient,
    ref: StreamRef,
    stream: StreamArn,
    clock: Clock
) {
  import ConsumerRegistration._
  import kinesis.fanOut

  /**
   * `None` if the query polls.
   *
   * @throws KinesisException if there is no such consumer, or if it does not become active
   */
  def active(choice: ConsumerChoice): Option[ConsumerArn] = {
    if (choice.isFanOut) checkPolling()
    choice match {
      case ConsumerChoice.Polling => None
      case ConsumerChoice.Named(name) => Some(awaitActive(name))
      case ConsumerChoice.Given(arns) =>
        arns.find(_.stream == stream).orElse(foreign(arns)).map(known)
    }
  }

  /** A task that must read a range again does so by `GetRecords`. Any other failure may pass. */
  private def checkPolling(): Unit = try {
    val open = kinesis.listShards(ListShardsRequest.First(ref, ShardFilter.AtLatest)).shards
    open.headOption.foreach { shard =>
      kinesis.getRecords(ref, kinesis.shardIterator(ref, shard.id, Position.Latest), 1)
    }
  } catch {
    case denied: KinesisException.AccessDenied => throw denied
    case _: KinesisException => ()
  }

  /** The options name the stream without its account. */
  private def foreign(arns: Seq[ConsumerArn]): Option[ConsumerArn] =
    throw new KinesisException.ConsumerNotFound(
      s"None of the consumers ${arns.mkString(", ")} is one of stream $stream."
    )

  /** The permission to describe a consumer is not required: to subscribe is enough. */
  private def known(arn: ConsumerArn): ConsumerArn =
    try
      find(ConsumerRef.ByArn(arn)) match {
        case Some(_) => arn
        case None => throw new KinesisException.ConsumerNotFound(s"Consumer $arn does not exist.")
      }
    catch { case _: KinesisException.AccessDenied => arn }

  private def awaitActive(name: String): ConsumerArn =
    awaitActive(name, clock.steady.plusMillis(LongestWait.toMillis).toEpochMilli)

  @tailrec private def awaitActive(name: String, end: Long): ConsumerArn =
    find(ConsumerRef.ByName(stream, name)) match {
      case Some(ConsumerSummary(arn, ConsumerStatus.Active, _)) => arn
      case found =>
        if (clock.steady.toEpochMilli >= end) throw stuck(name, found)
        if (found.isEmpty) register(name)
        clock.sleep(((1 + clock.chance()) * Period.toMillis).toLong.millis)
        awaitActive(name, end)
    }

  /** Registers the consumer, which another query may register at the same moment. */
  private def register(name: String): Unit =
    try retrying(fanOut.register(stream, name)): Unit
    catch {
      case _: KinesisException.InUse => ()
      case full: KinesisException.LimitExceeded =>
        throw new KinesisException.LimitExceeded(
          s"${full.getMessage.stripSuffix(".")}. A stream can have 20 consumers (50 with " +
            "On-demand Advantage). 'aws kinesis list-stream-consumers' shows them",
          full
        )
    }

  private def find(consumer: ConsumerRef): Option[ConsumerSummary] =
    try Some(retrying(fanOut.describe(consumer)))
    catch { case _: KinesisException.NotFound => None }

  private def retrying[A](call: => A): A = Retry.atStart(clock)(call)

  private def stuck(name: String, found: Option[ConsumerSummary]) = {
    val status = found.fold("is not there")(it => s"is ${it.status.toString.toUpperCase}")
    new KinesisException.InUse(
      s"Consumer $name of stream $stream $status after $LongestWait."
    )
  }
}

private[sparkkinesis] object ConsumerRegistration {

  /** An account can describe 20 consumers per second. */
  private val Period = 1.second
  private val LongestWait = 2.minutes
}
