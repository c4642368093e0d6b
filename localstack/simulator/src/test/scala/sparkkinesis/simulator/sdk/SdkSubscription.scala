package sparkkinesis.simulator.sdk

import java.util.concurrent.{CompletableFuture, LinkedBlockingQueue, TimeUnit}

import scala.jdk.CollectionConverters._

import org.reactivestreams.{Subscriber, Subscription => Upstream}
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.http.SdkCancellationException
import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.client.KinesisException
import sparkkinesis.model._
import sparkkinesis.simulator.fanout.SubscriptionEvent

/** One call of `SubscribeToShard` by the SDK. It requests an event only when `next` is called. */
final class SdkSubscription extends FanOutSubscription {
  import SdkSubscription._

  private val signals = new LinkedBlockingQueue[Signal]
  private val upstream = new CompletableFuture[Upstream]
  private var asked = false
  private var ended: Option[Signal] = None

  val handler: aws.SubscribeToShardResponseHandler = new aws.SubscribeToShardResponseHandler {
    override def responseReceived(answer: aws.SubscribeToShardResponse): Unit = ()

    override def onEventStream(events: SdkPublisher[aws.SubscribeToShardEventStream]): Unit =
      events.subscribe(subscriber)

    override def exceptionOccurred(e: Throwable): Unit = {
      upstream.completeExceptionally(e)
      ()
    }

    override def complete(): Unit = ()
  }

  private object subscriber extends Subscriber[aws.SubscribeToShardEventStream] {
    override def onSubscribe(it: Upstream): Unit = {
      upstream.complete(it)
      ()
    }

    override def onNext(event: aws.SubscribeToShardEventStream): Unit = event match {
      case event: aws.SubscribeToShardEvent => signals.add(Signal.Event(converted(event))): Unit
      case other => signals.add(Signal.Failed(translated(new IllegalStateException(s"$other"))))
    }

    override def onError(e: Throwable): Unit = signals.add(Signal.Failed(translated(e))): Unit

    // The call tells. Where the connection broke, that may be a normal end: the SDK takes it for
    // the end of the body.
    override def onComplete(): Unit = ()
  }

  /** Returns when events may arrive. Throws the error of the service. */
  def start(call: CompletableFuture[Void]): Unit = {
    call.whenComplete { (_, e) =>
      if (e == null) signals.add(Signal.Completed): Unit
      else {
        signals.add(Signal.Failed(translated(e)))
        upstream.completeExceptionally(e): Unit
      }
    }
    try {
      upstream.get(30, TimeUnit.SECONDS)
      ()
    } catch { case e: java.util.concurrent.ExecutionException => throw translated(e) }
  }

  override def next(): Signal = ended.getOrElse {
    if (!asked) upstream.join().request(1)
    asked = true
    Option(signals.poll(20, TimeUnit.MILLISECONDS)) match {
      case Some(event: Signal.Event) =>
        asked = false
        event
      case Some(end) =>
        ended = Some(reason(end))
        ended.get
      case None => Signal.Quiet
    }
  }

  /**
   * An exception among the events makes the SDK cancel its own reading, and tell of both in either
   * order.
   */
  private def reason(end: Signal): Signal = end match {
    case Signal.Failed(e) if e.getCause.isInstanceOf[SdkCancellationException] =>
      Option(signals.poll(2, TimeUnit.SECONDS)).getOrElse(end)
    case other => other
  }

  override def close(): Unit = upstream.join().cancel()
}

object SdkSubscription {
  @scala.annotation.tailrec
  def translated(e: Throwable): KinesisException = e match {
    case e: aws.ResourceNotFoundException => new KinesisException.NotFound(e.getMessage, e)
    case e: aws.ResourceInUseException => new KinesisException.InUse(e.getMessage, e)
    case e: aws.LimitExceededException => new KinesisException.LimitExceeded(e.getMessage, e)
    case e: aws.InvalidArgumentException => new KinesisException.InvalidArgument(e.getMessage, e)
    case e: aws.InternalFailureException => new KinesisException.ServiceFailure(e.getMessage, e)
    case e: java.io.IOException => new KinesisException.Unreachable(e.getMessage, e)
    case e if e.getCause != null => translated(e.getCause)
    case e => new KinesisException.Other(s"$e", e)
  }

  private def converted(it: aws.SubscribeToShardEvent): SubscriptionEvent = SubscriptionEvent(
    it.records.asScala.map(record).toVector,
    Option(it.continuationSequenceNumber).map(SequenceNumber(_)),
    it.millisBehindLatest,
    it.childShards.asScala.map(child).toVector
  )

  private def record(it: aws.Record): Record = Record(
    SequenceNumber(it.sequenceNumber),
    Option(it.partitionKey),
    it.data.asByteArray,
    it.approximateArrivalTimestamp.toEpochMilli,
    encryptionType = None
  )

  private def child(it: aws.ChildShard): ChildShard = ChildShard(
    ShardId(it.shardId),
    it.parentShards.asScala.map(ShardId(_)).toVector,
    HashKeyRange(
      HashKey.parse(it.hashKeyRange.startingHashKey).get,
      HashKey.parse(it.hashKeyRange.endingHashKey).get
    )
  )
}
