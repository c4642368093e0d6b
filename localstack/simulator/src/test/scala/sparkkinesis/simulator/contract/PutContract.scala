package sparkkinesis.simulator.contract

import sparkkinesis.client.KinesisException
import sparkkinesis.model.{HashKey, PutEntry, ServiceLimits, ShardId}

/** Putting records: where they go, what is refused. */
trait PutContract { this: ContractFixture =>
  contract("PutRecords", "a record is read as it was put") {
    val stream = newStream(1)
    val bytes = Array.tabulate[Byte](256)(_.toByte)
    val keys = Seq("k", "ключ-鍵-🔑", "x" * 256)
    val written = keys.map(key => put(stream, PutEntry(key, bytes, None)).head)
    val records = readAll(stream)
    assert(records.map(_.partitionKey) == keys.map(Some(_)))
    assert(records.forall(_.data.sameElements(bytes)))
    assert(records.map(_.sequenceNumber) == written.map(_.sequenceNumber))
    assert(written.forall(_.shard == ShardId("shardId-000000000000")))
  }

  contract("PutRecords", "a record may be empty") {
    val stream = newStream(1)
    put(stream, entry("k", "a"), entry("k", ""), entry("k", "b"))
    assert(readAll(stream).map(text).sorted == Seq("", "a", "b"))
  }

  contract("PutRecord", "PutRecord and a PutRecords of one record have the same effect") {
    val stream = newStream(2)
    val written = acknowledge(stream, admin.putRecord(stream.name, entry("k", "v")))
    val record = read(stream, written.shard).head
    assert(record.sequenceNumber == written.sequenceNumber && text(record) == "v")
  }

  contract("PutRecords", "the MD5 of the partition key chooses the shard") {
    val stream = newStream(4)
    val owners = shards(stream)
    (1 to 40).map(i => s"key-$i").grouped(20).foreach { keys =>
      val written = put(stream, keys.map(entry(_, "v")): _*)
      keys.zip(written).foreach { case (key, result) =>
        assert(owners.find(_.hashKeys.contains(HashKey.of(key))).map(_.id).contains(result.shard))
      }
    }
  }

  contract(
    "PutRecords",
    "an explicit hash key chooses the shard, up to the last key of its range"
  ) {
    val stream = newStream(2)
    shards(stream).foreach { shard =>
      Seq(shard.hashKeys.first, shard.hashKeys.last).foreach { key =>
        val written = put(stream, PutEntry("k", Array.emptyByteArray, Some(key))).head
        assert(written.shard == shard.id)
      }
    }
  }

  contract(
    "PutRecords",
    "sequence numbers of a shard grow with each put, from the shard's first number"
  ) {
    val stream = newStream(1)
    val numbers = (1 to 20).flatMap(i => put(stream, entry("k", s"$i"))).map(_.sequenceNumber)
    assert(numbers == numbers.sorted && numbers.distinct == numbers)
    assert(shards(stream).head.first < numbers.head)
    assert(readAll(stream).map(text) == (1 to 20).map(_.toString))
  }

  contract(
    "PutRecords",
    "a record of 1 MiB with its key is accepted, and a larger one is refused"
  ) {
    val stream = newStream(1)
    val fits = new Array[Byte](ServiceLimits.RecordBytes - 1)
    put(stream, PutEntry("k", fits, None))
    assert(readAll(stream).head.data.length == fits.length)
    refused[KinesisException.InvalidArgument](
      admin.putRecord(stream.name, PutEntry("k", new Array[Byte](fits.length + 2), None))
    )
  }

  contractIf(Capability.CountsPartitionKeys)(
    "PutRecords",
    "the size of a record includes its partition key"
  ) {
    val stream = newStream(1)
    val data = new Array[Byte](ServiceLimits.RecordBytes - 2)
    put(stream, PutEntry("ü", data, None))
    refused[KinesisException.InvalidArgument](
      admin.putRecord(stream.name, PutEntry("üx", data, None))
    )
  }

  contractIf(Capability.LimitsPutRecords)(
    "PutRecords",
    "a request may have 500 records, but not 501"
  ) {
    val stream = newStream(1)
    val entries = (1 to 501).map(i => entry("k", s"$i"))
    refused[KinesisException.InvalidArgument](client.putRecords(stream, entries))
    assert(put(stream, entries.init: _*).size == 500)
  }

  contractIf(Capability.LimitsPutRecords)(
    "PutRecords",
    "a request may have 10 MiB with its keys, but no more"
  ) {
    val stream = newStream(1)
    val entries = Seq.fill(10)(PutEntry("k", new Array[Byte](ServiceLimits.RecordBytes - 1), None))
    assert(put(stream, entries: _*).size == 10)
    refused[KinesisException.InvalidArgument](client.putRecords(stream, entries :+ entry("k", "")))
  }

  contract("PutRecords", "a partition key has 1 to 256 characters") {
    val stream = newStream(1)
    Seq("", "x" * 257).foreach { key =>
      refused[KinesisException.InvalidArgument](client.putRecords(stream, Seq(entry(key, "v"))))
    }
  }
}
