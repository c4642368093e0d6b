package sparkkinesis.simulator.http.request

import sparkkinesis.simulator.operation._

/** Writes operations on a stream's settings as requests that `ControlActions` reads. */
private[http] object ControlRequests {
  val kinds: Map[Class[_], Kind[_]] = Map(
    Kind.of[IncreaseStreamRetentionPeriod] { (r, o) =>
      r.stream(o.stream).number("RetentionPeriodHours", o.hours)
    },
    Kind.of[DecreaseStreamRetentionPeriod] { (r, o) =>
      r.stream(o.stream).number("RetentionPeriodHours", o.hours)
    },
    Kind.of[UpdateStreamMode]((r, o) => r.stream(o.stream).mode(o.mode)),
    Kind.of[UpdateStreamRecordDistributionStrategy] { (r, o) =>
      r.stream(o.stream).text("RecordDistributionStrategy", o.distribution.name)
    },
    Kind.of[UpdateMaxRecordSize] { (r, o) =>
      r.stream(o.stream).number("MaxRecordSizeInKiB", o.kibibytes)
    },
    Kind.of[StartStreamEncryption] { (r, o) =>
      r.stream(o.stream).text("EncryptionType", o.encryptionType).text("KeyId", o.key)
    },
    Kind.of[StopStreamEncryption] { (r, o) =>
      r.stream(o.stream).text("EncryptionType", o.encryptionType).text("KeyId", "any")
    },
    Kind.of[EnableEnhancedMonitoring] { (r, o) =>
      r.stream(o.stream).texts("ShardLevelMetrics", o.metrics.map(_.name).distinct)
    },
    Kind.of[DisableEnhancedMonitoring] { (r, o) =>
      r.stream(o.stream).texts("ShardLevelMetrics", o.metrics.map(_.name).distinct)
    },
    Kind.of[AddTagsToStream]((r, o) => r.stream(o.stream).tags(o.tags)),
    Kind.of[RemoveTagsFromStream]((r, o) => r.stream(o.stream).texts("TagKeys", o.keys)),
    Kind.of[TagResource]((r, o) => r.text("ResourceARN", o.stream).tags(o.tags)),
    Kind.of[UntagResource]((r, o) => r.text("ResourceARN", o.stream).texts("TagKeys", o.keys))
  )

  def create(r: RequestWriter, o: CreateStream): RequestWriter =
    r.stream(o.stream)
      .number("ShardCount", o.shards)
      .mode(o.mode)
      .text("RecordDistributionStrategy", o.distribution.name)
      .number("MaxRecordSizeInKiB", o.maxRecordKibibytes)
      .tags(o.tags)
}
