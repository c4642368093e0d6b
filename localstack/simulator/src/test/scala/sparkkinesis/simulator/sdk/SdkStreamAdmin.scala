package sparkkinesis.simulator.sdk

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.model.{RecordDistribution, StreamName}
import sparkkinesis.simulator.state.StreamMode

/** The part of the admin calls that changes a stream's settings, by AWS's own SDK. */
trait SdkStreamAdmin extends SdkDescribing {
  override def createOnDemandStream(stream: StreamName): Unit = changing(stream) {
    sdk.createStream(
      aws.CreateStreamRequest
        .builder()
        .streamName(stream.name)
        .streamModeDetails(details(StreamMode.OnDemand))
        .build()
    )
  }

  override def updateMode(stream: StreamName, mode: StreamMode): Unit = changing(stream) {
    sdk.updateStreamMode(
      aws.UpdateStreamModeRequest
        .builder()
        .streamARN(arn(stream))
        .streamModeDetails(details(mode))
        .build()
    )
  }

  override def updateDistribution(
      stream: StreamName,
      distribution: RecordDistribution
  ): Unit = changing(stream) {
    val call = SdkNewOperations.instead(
      "UpdateStreamRecordDistributionStrategy",
      "StreamARN" -> arn(stream),
      "RecordDistributionStrategy" -> distribution.name
    )
    sdk.updateStreamMode(_.overrideConfiguration(call))
  }

  override def increaseRetention(stream: StreamName, hours: Int): Unit = changing(stream) {
    sdk.increaseStreamRetentionPeriod(_.streamName(stream.name).retentionPeriodHours(hours))
  }

  override def decreaseRetention(stream: StreamName, hours: Int): Unit = changing(stream) {
    sdk.decreaseStreamRetentionPeriod(_.streamName(stream.name).retentionPeriodHours(hours))
  }

  override def updateMaxRecordSize(stream: StreamName, kibibytes: Int): Unit = changing(stream) {
    sdk.updateMaxRecordSize(_.streamARN(arn(stream)).maxRecordSizeInKiB(kibibytes))
  }

  override def startEncryption(stream: StreamName, key: String): Unit = changing(stream) {
    sdk.startStreamEncryption(
      _.streamName(stream.name).encryptionType(aws.EncryptionType.KMS).keyId(key)
    )
  }

  override def stopEncryption(stream: StreamName, key: String): Unit = changing(stream) {
    sdk.stopStreamEncryption(
      _.streamName(stream.name).encryptionType(aws.EncryptionType.KMS).keyId(key)
    )
  }

  override def addTags(stream: StreamName, tags: Map[String, String]): Unit = changing(stream) {
    sdk.addTagsToStream(_.streamName(stream.name).tags(tags.asJava))
  }

  override def removeTags(stream: StreamName, keys: Seq[String]): Unit = changing(stream) {
    sdk.removeTagsFromStream(_.streamName(stream.name).tagKeys(keys.asJava))
  }

  override def tags(stream: StreamName, limit: Int): Map[String, String] = translated {
    @tailrec def more(found: Vector[aws.Tag]): Map[String, String] = {
      val page = sdk.listTagsForStream { request =>
        request.streamName(stream.name).limit(limit)
        found.lastOption.foreach(last => request.exclusiveStartTagKey(last.key))
      }
      val all = found ++ page.tags.asScala
      if (page.hasMoreTags) more(all) else asMap(all)
    }
    more(Vector.empty)
  }

  override def tagResource(stream: StreamName, tags: Map[String, String]): Unit =
    changing(stream)(sdk.tagResource(_.resourceARN(arn(stream)).tags(tags.asJava)))

  override def untagResource(stream: StreamName, keys: Seq[String]): Unit =
    changing(stream)(sdk.untagResource(_.resourceARN(arn(stream)).tagKeys(keys.asJava)))

  override def resourceTags(stream: StreamName): Map[String, String] =
    translated(asMap(sdk.listTagsForResource(_.resourceARN(arn(stream))).tags.asScala))

  private def asMap(tags: Iterable[aws.Tag]): Map[String, String] =
    tags.map(tag => tag.key -> tag.value).toMap

  private def changing(stream: StreamName)(call: => Any): Unit = translated {
    call
    awaitActive(stream)
  }

  private def details(mode: StreamMode): aws.StreamModeDetails =
    aws.StreamModeDetails.builder().streamMode(mode.name).build()
}
