package sparkkinesis.simulator.contract

import scala.concurrent.duration._

import sparkkinesis.client.KinesisException
import sparkkinesis.model.{PutEntry, ServiceLimits}
import sparkkinesis.simulator.state.ShardMetric

/** The settings of a stream: retention, encryption, metrics, size of a record. */
trait ConfigurationContract { this: ContractFixture =>
  contract("IncreaseStreamRetentionPeriod", "the retention period is 24 hours to a year") {
    val stream = newStream(1)
    admin.increaseRetention(stream.name, 25)
    assert(client.describeStream(stream).retention == 25.hours)
    admin.increaseRetention(stream.name, 8760)
    assert(client.describeStream(stream).retention == 8760.hours)
    refused[KinesisException.InvalidArgument](admin.increaseRetention(stream.name, 8761))
    assert(client.describeStream(stream).retention == 8760.hours)
  }

  contract(
    "IncreaseStreamRetentionPeriod",
    "an increase to the current retention period or less is refused"
  ) {
    val stream = newStream(1)
    refused[KinesisException.InvalidArgument](admin.increaseRetention(stream.name, 23))
    admin.increaseRetention(stream.name, 48)
    refused[KinesisException.InvalidArgument](admin.increaseRetention(stream.name, 47))
  }

  contract(
    "DecreaseStreamRetentionPeriod",
    "a decrease to more than the current retention period, or to less than 24 hours, is refused"
  ) {
    val stream = newStream(1)
    refused[KinesisException.InvalidArgument](admin.decreaseRetention(stream.name, 23))
    admin.increaseRetention(stream.name, 48)
    refused[KinesisException.InvalidArgument](admin.decreaseRetention(stream.name, 49))
    admin.decreaseRetention(stream.name, 24)
    assert(client.describeStream(stream).retention == 24.hours)
  }

  contractIf(Capability.MovesTime)(
    "DecreaseStreamRetentionPeriod",
    "records that a decrease trims stay trimmed"
  ) {
    val stream = newStream(1)
    admin.increaseRetention(stream.name, 72)
    put(stream, entry("k", "old"))
    pass(30.hours)
    put(stream, entry("k", "new"))
    assert(readAll(stream).map(text) == Seq("old", "new"))
    admin.decreaseRetention(stream.name, 24)
    assert(readAll(stream).map(text) == Seq("new"))
    admin.increaseRetention(stream.name, 72)
    assert(readAll(stream).map(text) == Seq("new"))
  }

  contract(
    "StartStreamEncryption",
    "records that are put while encryption is on have the encryption type KMS"
  ) {
    val stream = newStream(1)
    put(stream, entry("k", "before"))
    admin.startEncryption(stream.name, "alias/aws/kinesis")
    put(stream, entry("k", "on"))
    admin.stopEncryption(stream.name, "alias/aws/kinesis")
    put(stream, entry("k", "after"))
    val records = readAll(stream)
    assert(records.map(text) == Seq("before", "on", "after"))
    assert(records.map(_.encryptionType.contains("KMS")) == Seq(false, true, false))
  }

  contract("StopStreamEncryption", "encryption stops, and may start again") {
    val stream = newStream(1)
    admin.startEncryption(stream.name, "alias/aws/kinesis")
    admin.stopEncryption(stream.name, "alias/aws/kinesis")
    put(stream, entry("k", "plain"))
    admin.startEncryption(stream.name, "alias/aws/kinesis")
    put(stream, entry("k", "encrypted"))
    assert(readAll(stream).map(_.encryptionType.contains("KMS")) == Seq(false, true))
    val missing = newName()
    refused[KinesisException.NotFound](admin.stopEncryption(missing, "alias/aws/kinesis"))
  }

  contract("EnableEnhancedMonitoring", "an added metric is measured besides the previous ones") {
    val stream = newStream(1).name
    val (in, out) = (ShardMetric.IncomingBytes, ShardMetric.OutgoingBytes)
    assert(admin.enableMonitoring(stream, Seq(in)) == Set(in))
    assert(admin.enableMonitoring(stream, Seq(out)) == Set(in, out))
  }

  contract(
    "DisableEnhancedMonitoring",
    "a removed metric is no longer measured, and the other ones are"
  ) {
    val stream = newStream(1).name
    val (in, out) = (ShardMetric.IncomingBytes, ShardMetric.OutgoingBytes)
    admin.enableMonitoring(stream, Seq(in, out))
    assert(admin.disableMonitoring(stream, Seq(in)) == Set(out))
  }

  contract("UpdateMaxRecordSize", "a stream accepts larger records after its limit is raised") {
    val stream = newStream(1)
    val large = PutEntry("k", new Array[Byte](2 * ServiceLimits.RecordBytes - 1), None)
    refused[KinesisException.InvalidArgument](admin.putRecord(stream.name, large))
    admin.updateMaxRecordSize(stream.name, 2048)
    assert(client.describeStream(stream).maxRecordBytes == 2 * ServiceLimits.RecordBytes)
    put(stream, large)
    assert(readAll(stream).map(_.data.length) == Seq(large.data.length))
    val larger = large.copy(data = new Array[Byte](large.data.length + 2))
    refused[KinesisException.InvalidArgument](admin.putRecord(stream.name, larger))
    Seq(1023, 10241).foreach { size =>
      refused[KinesisException.InvalidArgument](admin.updateMaxRecordSize(stream.name, size))
    }
  }
}
