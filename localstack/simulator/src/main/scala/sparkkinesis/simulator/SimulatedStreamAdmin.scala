package sparkkinesis.simulator

import sparkkinesis.model.StreamName

/** The part of [[KinesisAdmin]] that changes a stream's settings, in memory. */
trait SimulatedStreamAdmin extends KinesisAdmin {

  /** Does it, and returns once the stream is active again. */
  protected def change(operation: Operation[Any]): Unit

  protected def answer[A](operation: Operation[A]): A

  private def arn(stream: StreamName) = SimulatedKinesis.arn(stream)

  override def createOnDemandStream(stream: StreamName): Unit =
    change(CreateStream(arn(stream), Modes.OnDemandShards, StreamMode.OnDemand))

  override def updateMode(stream: StreamName, mode: StreamMode): Unit =
    change(UpdateStreamMode(arn(stream), mode))

  override def increaseRetention(stream: StreamName, hours: Int): Unit =
    change(IncreaseStreamRetentionPeriod(arn(stream), hours))

  override def decreaseRetention(stream: StreamName, hours: Int): Unit =
    change(DecreaseStreamRetentionPeriod(arn(stream), hours))

  override def updateMaxRecordSize(stream: StreamName, kibibytes: Int): Unit =
    change(UpdateMaxRecordSize(arn(stream), kibibytes))

  override def startEncryption(stream: StreamName, key: String): Unit =
    change(StartStreamEncryption(arn(stream), Encryption.Kms, key))

  override def stopEncryption(stream: StreamName, key: String): Unit =
    change(StopStreamEncryption(arn(stream), Encryption.Kms))

  /** Not in [[KinesisAdmin]], since AWS's SDK for Java does not have it yet. */
  def updateDistribution(stream: StreamName, distribution: RecordDistribution): Unit =
    change(UpdateStreamRecordDistributionStrategy(arn(stream), distribution))

  override def addTags(stream: StreamName, tags: Map[String, String]): Unit =
    answer(AddTagsToStream(arn(stream), tags))

  override def removeTags(stream: StreamName, keys: Seq[String]): Unit =
    answer(RemoveTagsFromStream(arn(stream), keys))

  override def tags(stream: StreamName): Map[String, String] =
    answer(ListTagsForResource(arn(stream))).tags.toMap
}
