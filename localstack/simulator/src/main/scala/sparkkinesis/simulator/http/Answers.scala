package sparkkinesis.simulator.http

import com.fasterxml.jackson.core.JsonGenerator

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.simulator._

/** Writes answers straight to the wire: a page may have 10 MiB, so no tree is built. */
private[http] final class Answers(out: JsonGenerator, format: WireFormat) {

  /** Operations that answer nothing have no body at all. */
  val nothing: Unit => Unit = identity

  def summary(s: StreamSummary): Unit = body {
    inObject("StreamDescriptionSummary") {
      describe(s)
      out.writeNumberField("OpenShardCount", s.openShards)
      out.writeNumberField("ConsumerCount", 0)
      out.writeNumberField("MaxRecordSizeInKiB", s.maxRecordBytes / 1024)
    }
  }

  def description(d: StreamDescription): Unit = body {
    inObject("StreamDescription") {
      describe(d.summary)
      array("Shards", d.shards)(shard)
      out.writeBooleanField("HasMoreShards", d.hasMore)
    }
  }

  def streams(listing: StreamListing): Unit = body {
    out.writeArrayFieldStart("StreamNames")
    listing.streams.foreach(s => out.writeString(s.arn.name.name))
    out.writeEndArray()
    out.writeBooleanField("HasMoreStreams", listing.hasMore)
    listing.streams.lastOption
      .filter(_ => listing.hasMore)
      .foreach(last => out.writeStringField("NextToken", last.arn.name.name))
    array("StreamSummaries", listing.streams)(identify)
  }

  def shards(page: ListShardsPage): Unit = body {
    array("Shards", page.shards)(shard)
    page.nextToken.foreach(out.writeStringField("NextToken", _))
  }

  def shardIterator(iterator: ShardIterator): Unit =
    body(out.writeStringField("ShardIterator", iterator.token))

  def page(p: Page): Unit = body {
    array("Records", p.records)(record)
    p.next.foreach(next => out.writeStringField("NextShardIterator", next.token))
    out.writeNumberField("MillisBehindLatest", p.millisBehindLatest)
    if (p.children.nonEmpty) array("ChildShards", p.children)(child)
  }

  def written(result: PutResult.Written): Unit = body(place(result))

  def results(results: Seq[PutResult]): Unit = body {
    val failed = results.count(_.isInstanceOf[PutResult.Failed])
    out.writeNumberField("FailedRecordCount", failed)
    array("Records", results) {
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
    out.writeStringField("message", message)
  }

  /** What the event's records and its place are. */
  def event(e: SubscriptionEvent): Unit = body {
    array("Records", e.records)(record)
    e.continuation.foreach(n => out.writeStringField("ContinuationSequenceNumber", n.text))
    out.writeNumberField("MillisBehindLatest", e.millisBehindLatest)
    if (e.children.nonEmpty) array("ChildShards", e.children)(child)
  }

  /** Of an event stream: its type stands elsewhere. */
  def exception(message: String): Unit = body(out.writeStringField("message", message))

  def consumers: ConsumerAnswers = new ConsumerAnswers(out, format)

  private def identify(s: StreamSummary): Unit = {
    out.writeStringField("StreamName", s.arn.name.name)
    out.writeStringField("StreamARN", s.arn.toString)
    out.writeStringField("StreamStatus", s.status.toString.toUpperCase)
    inObject("StreamModeDetails")(out.writeStringField("StreamMode", "PROVISIONED"))
    out.writeFieldName("StreamCreationTimestamp")
    format.writeMillis(out, s.created.toEpochMilli)
  }

  private def describe(s: StreamSummary): Unit = {
    identify(s)
    out.writeNumberField("RetentionPeriodHours", s.retention.toHours)
    out.writeStringField("EncryptionType", "NONE")
    out.writeArrayFieldStart("EnhancedMonitoring")
    out.writeStartObject()
    array[String]("ShardLevelMetrics", Nil)(_ => ())
    out.writeEndObject()
    out.writeEndArray()
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

  private def child(c: ChildShard): Unit = {
    out.writeStringField("ShardId", c.id.name)
    out.writeArrayFieldStart("ParentShards")
    c.parents.foreach(p => out.writeString(p.name))
    out.writeEndArray()
    hashKeys(c.hashKeys)
  }

  private def record(r: Record): Unit = {
    out.writeStringField("SequenceNumber", r.sequenceNumber.text)
    out.writeFieldName("ApproximateArrivalTimestamp")
    format.writeMillis(out, r.arrivalMillis)
    out.writeFieldName("Data")
    out.writeBinary(r.data)
    r.partitionKey.foreach(out.writeStringField("PartitionKey", _))
  }

  private def place(written: PutResult.Written): Unit = {
    out.writeStringField("ShardId", written.shard.name)
    out.writeStringField("SequenceNumber", written.sequenceNumber.text)
  }

  private def hashKeys(range: HashKeyRange): Unit = inObject("HashKeyRange") {
    out.writeStringField("StartingHashKey", range.first.toString)
    out.writeStringField("EndingHashKey", range.last.toString)
  }

  private def array[A](name: String, values: Iterable[A])(write: A => Unit): Unit = {
    out.writeArrayFieldStart(name)
    values.foreach { value =>
      out.writeStartObject()
      write(value)
      out.writeEndObject()
    }
    out.writeEndArray()
  }

  private def inObject(name: String)(write: => Unit): Unit = {
    out.writeObjectFieldStart(name)
    write
    out.writeEndObject()
  }

  private def body(write: => Unit): Unit = {
    out.writeStartObject()
    write
    out.writeEndObject()
  }
}

private[http] object Answers {
  private val Small = 512
  private val AroundARecord = 200

  /** About how many bytes an answer takes: a buffer that need not grow is not copied. */
  def sizeHint(answer: Any, format: WireFormat): Int = answer match {
    case page: Page => size(page.records, format)
    case event: SubscriptionEvent => size(event.records, format)
    case _ => Small
  }

  private def size(records: Iterable[Record], format: WireFormat): Int =
    records.iterator.map(r => format.encodedSize(r.data.length) + keySize(r)).sum + Small

  private def keySize(record: Record): Int =
    record.partitionKey.fold(0)(_.length) + AroundARecord
}
