package sparkkinesis.simulator

import scala.jdk.CollectionConverters._

import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient}
import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.model.StreamName

/** The part of the admin calls that changes a stream's settings, by AWS's own SDK. */
trait SdkStreamAdmin extends KinesisAdmin {
  def sdk: SdkClient

  protected def awaitActive(stream: StreamName): Unit

  protected def translated[A](call: => A): A

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

  override def tags(stream: StreamName): Map[String, String] = translated {
    sdk
      .listTagsForStream(_.streamName(stream.name))
      .tags
      .asScala
      .map(tag => tag.key -> tag.value)
      .toMap
  }

  private def changing(stream: StreamName)(call: => Any): Unit = translated {
    call
    awaitActive(stream)
  }

  private def details(mode: StreamMode): aws.StreamModeDetails =
    aws.StreamModeDetails.builder().streamMode(mode.name).build()

  private def arn(stream: StreamName): String =
    sdk.describeStreamSummary(_.streamName(stream.name)).streamDescriptionSummary.streamARN
}
