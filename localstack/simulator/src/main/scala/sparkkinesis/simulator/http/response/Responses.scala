package sparkkinesis.simulator.http.response

import com.fasterxml.jackson.core.JsonGenerator

import sparkkinesis.client.{Page, PutResult, ShardIterator}
import sparkkinesis.model.{ChildShard, HashKeyRange, Record, Shard}
import sparkkinesis.simulator.fanout.SubscriptionEvent
import sparkkinesis.simulator.http.wire.{UnicodeText, WireFormat}
import sparkkinesis.simulator.listing.{ListShardsPage, StreamDescription, StreamListing}
import sparkkinesis.simulator.operation.{PutAnswer, ShardCountUpdate}
import sparkkinesis.simulator.state.{ErrorCode, StreamDetails, StreamMode}

/**
 * Writes responses directly to the output, without a tree in memory, because a page may have 10
 * MiB.
 */
private[http] final class Responses(
    private[http] val out: JsonGenerator,
    private[http] val format: WireFormat
) {

  /** Operations without a result have no body at all. */
  val nothing: Unit => Unit = identity

  def summary(s: StreamDetails): Unit = body {
    inObject("StreamDescriptionSummary") {
      describe(s)
      out.writeNumberField("OpenShardCount", s.summary.openShards)
      out.writeNumberField("ConsumerCount", s.consumers)
      out.writeNumberField("MaxRecordSizeInKiB", s.config.maxRecordBytes / 1024)
      if (s.config.mode == StreamMode.OnDemand)
        out.writeStringField("RecordDistributionStrategy", s.config.distribution.name)
    }
  }

  def description(d: StreamDescription): Unit = body {
    inObject("StreamDescription") {
      describe(d.details)
      array("Shards", d.shards)(shard)
      out.writeBooleanField("HasMoreShards", d.hasMore)
    }
  }

  def streams(listing: StreamListing): Unit = body {
    texts("StreamNames", listing.streams.map(_.name.name))
    out.writeBooleanField("HasMoreStreams", listing.nextToken.nonEmpty)
    listing.nextToken.foreach(out.writeStringField("NextToken", _))
    array("StreamSummaries", listing.streams)(identify)
  }

  def shards(page: ListShardsPage): Unit = body {
    array("Shards", page.shards)(shard)
    page.nextToken.foreach(out.writeStringField("NextToken", _))
  }

  def shardIterator(iterator: ShardIterator): Unit =
    body(out.writeStringField("ShardIterator", iterator.token))

  def page(p: Page): Unit = body {
    records(p.records)
    p.next.foreach(next => out.writeStringField("NextShardIterator", next.token))
    p.millisBehindLatest.foreach(out.writeNumberField("MillisBehindLatest", _))
    if (p.children.nonEmpty) array("ChildShards", p.children)(child)
  }

  def written(answer: PutAnswer[PutResult.Written]): Unit = body {
    place(answer.result)
    encryption(answer.encryptionType)
  }

  def results(answer: PutAnswer[Seq[PutResult]]): Unit = body {
    val failed = answer.result.count(_.isInstanceOf[PutResult.Failed])
    out.writeNumberField("FailedRecordCount", failed)
    encryption(answer.encryptionType)
    array("Records", answer.result) {
      case written: PutResult.Written => place(written)
      case PutResult.Failed(code, message) =>
        out.writeStringField("ErrorCode", code)
        out.writeStringField("ErrorMessage", message)
    }
  }

  def shardCount(update: ShardCountUpdate): Unit = body {
    out.writeStringField("StreamName", update.stream.name.name)
    out.writeNumberField("CurrentShardCount", update.current)
    out.writeNumberField("TargetShardCount", update.target)
    out.writeStringField("StreamARN", update.stream.toString)
  }

  def failure(code: ErrorCode, message: String): Unit = body {
    out.writeStringField("__type", code.name)
    out.writeStringField("message", UnicodeText.withoutLoneSurrogates(message))
  }

  private def identify(s: StreamDetails): Unit = {
    out.writeStringField("StreamName", s.name.name)
    out.writeStringField("StreamARN", s.summary.arn.toString)
    out.writeStringField("StreamStatus", s.summary.status.toString.toUpperCase)
    inObject("StreamModeDetails")(out.writeStringField("StreamMode", s.config.mode.name))
    out.writeFieldName("StreamCreationTimestamp")
    format.writeMillis(out, s.summary.created.toEpochMilli)
  }

  private def describe(s: StreamDetails): Unit = {
    identify(s)
    out.writeNumberField("RetentionPeriodHours", s.config.retention.toHours)
    out.writeStringField("EncryptionType", s.config.encryption.key.fold("NONE")(_ => "KMS"))
    s.config.encryption.key.foreach(out.writeStringField("KeyId", _))
    array("EnhancedMonitoring", Seq(s.config.metrics)) { metrics =>
      texts("ShardLevelMetrics", metrics.map(_.name))
    }
  }

  private def shard(s: Shard): Unit = {
    out.writeStringField("ShardId", s.id.name)
    s.parents.headOption.foreach(p => out.writeStringField("ParentShardId", p.name))
    s.parents.lift(1).foreach(p => out.writeStringField("AdjacentParentShardId", p.name))
    hashKeys(s.hashKeys)
    inObject("SequenceNumberRange") {
      out.writeStringField("StartingSequenceNumber", s.first.text)
      s.last.foreach(last => out.writeStringField("EndingSequenceNumber", last.text))
    }
  }

  private[http] def child(c: ChildShard): Unit = {
    out.writeStringField("ShardId", c.id.name)
    texts("ParentShards", c.parents.map(_.name))
    hashKeys(c.hashKeys)
  }

  private[http] def records(all: Seq[Record]): Unit = new RecordResponses(out, format).all(all)

  private def encryption(kind: Option[String]): Unit =
    kind.foreach(out.writeStringField("EncryptionType", _))

  private def place(written: PutResult.Written): Unit = {
    out.writeStringField("ShardId", written.shard.name)
    out.writeStringField("SequenceNumber", written.sequenceNumber.text)
  }

  private def hashKeys(range: HashKeyRange): Unit = inObject("HashKeyRange") {
    out.writeStringField("StartingHashKey", range.first.toString)
    out.writeStringField("EndingHashKey", range.last.toString)
  }

  private[http] def texts(name: String, values: Seq[String]): Unit = {
    out.writeArrayFieldStart(name)
    values.foreach(out.writeString(_))
    out.writeEndArray()
  }

  private[http] def array[A](name: String, values: Iterable[A])(write: A => Unit): Unit = {
    out.writeArrayFieldStart(name)
    values.foreach { value =>
      out.writeStartObject()
      write(value)
      out.writeEndObject()
    }
    out.writeEndArray()
  }

  private[http] def inObject(name: String)(write: => Unit): Unit = {
    out.writeObjectFieldStart(name)
    write
    out.writeEndObject()
  }

  private[http] def body(write: => Unit): Unit = {
    out.writeStartObject()
    write
    out.writeEndObject()
  }
}

private[http] object Responses {
  private val Small = 512

  /** Estimated size of a response, so that its buffer need not grow. */
  def sizeHint(answer: Any, format: WireFormat): Int = answer match {
    case page: Page => RecordResponses.size(page.records, format) + Small
    case event: SubscriptionEvent => RecordResponses.size(event.records, format) + Small
    case _ => Small
  }
}
