package sparkkinesis

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalacheck.Gen

import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.source.store.StoredPage

/** Values of the model as Kinesis, or a query over it, makes them. */
object Generators {
  val arn: StreamArn = StreamArn("aws", "eu-west-1", "123456789012", StreamName("orders"))
  val stream: StreamRef = StreamRef.ByArn(arn)

  /** 1 to 256 characters, of which no surrogate stands alone. */
  val partitionKey: Gen[String] =
    Gen.choose(1, 128).flatMap(Gen.listOfN(_, Gen.oneOf("k", "7", "кл", "🔑"))).map(_.mkString)

  /** Sequence numbers of the service, of any digits, and many that differ only in leading zeros. */
  val sequenceNumber: Gen[SequenceNumber] = Gen
    .oneOf(
      Gen.stringOfN(54, Gen.numChar).map("49" + _),
      Gen.choose(1, 128).flatMap(Gen.stringOfN(_, Gen.numChar)),
      Gen.zip(Gen.choose(0, 3), Gen.choose(0, 20)).map { case (zeros, n) => "0" * zeros + n }
    )
    .map(SequenceNumber(_))

  val hashKey: Gen[HashKey] = Gen.frequency(
    1 -> Gen.oneOf(HashKey.Min, HashKey.Max),
    4 -> Gen.listOfN(128, Gen.oneOf("0", "1")).map(bits => HashKey(BigInt(bits.mkString, 2)))
  )

  val hashKeyRange: Gen[HashKeyRange] = Gen.zip(hashKey, hashKey).map { case (a, b) =>
    if (a <= b) HashKeyRange(a, b) else HashKeyRange(b, a)
  }

  val instant: Gen[Instant] =
    Gen.choose(0L, 4102444800000L).map(Instant.ofEpochMilli) // to the year 2100

  val limits: Gen[ReadLimits] = for {
    records <- Gen.option(Gen.choose(1L, 40L))
    bytes <- Gen.option(Gen.choose(1L, 400L))
  } yield ReadLimits(records, bytes)

  def shardId(number: Int): ShardId = ShardId(f"shardId-$number%012d")

  /** The same of the stream [[arn]]. */
  def shardOf(number: Int): StreamShard = StreamShard(arn, shardId(number))

  /** The offset of a source with this one stream. */
  def only(offset: StreamOffset): SourceOffset = SourceOffset.of(Seq(offset))

  /** A stream's shards after some splits and merges, with everything still listed. */
  val shardGraph: Gen[Vector[Shard]] = for {
    count <- Gen.choose(1, 3)
    choices <- Gen.choose(0, 8).flatMap(Gen.listOfN(_, Gen.choose(0, 1000)))
  } yield choices.foldLeft(newStream(count))(reshard)

  def newStream(count: Int): Vector[Shard] =
    HashKeyRange.even(count).zipWithIndex.toVector.map { case (range, number) =>
      Shard(shardId(number), Nil, range, firstOf(number), None)
    }

  private def firstOf(number: Int) = SequenceNumber((number * 1000000).toString)

  private def reshard(shards: Vector[Shard], choice: Int): Vector[Shard] = {
    val open = shards.filter(_.isOpen).sortBy(_.hashKeys.first)
    val shard = open(choice % open.size)
    if (choice % 2 == 0) {
      val middle = HashKey((shard.hashKeys.first.value + shard.hashKeys.last.value) / 2 + 1)
      val (low, high) = shard.hashKeys.splitAt(middle)
      after(shards, Seq(shard), Seq(low, high))
    } else
      open.find(_.hashKeys.first.value == shard.hashKeys.last.value + 1).fold(shards) { next =>
        after(shards, Seq(shard, next), Seq(shard.hashKeys.merge(next.hashKeys)))
      }
  }

  private def after(all: Vector[Shard], parents: Seq[Shard], ranges: Seq[HashKeyRange]) = {
    val closed = all.map { shard =>
      if (parents.contains(shard))
        shard.copy(last = Some(SequenceNumber(s"${shard.first}999")))
      else shard
    }
    closed ++ ranges.zipWithIndex.map { case (range, index) =>
      val number = all.size + index
      Shard(shardId(number), parents.map(_.id), range, firstOf(number), None)
    }
  }

  private val completeAsOf = instant.map(_.plusMillis(1))

  private val progress: Gen[Progress] = Gen.oneOf(
    Gen.const(Progress.TrimHorizon),
    Gen.const(Progress.Finished),
    instant.map(Progress.AtTimestamp(_)),
    sequenceNumber.map(Progress.From(_)),
    sequenceNumber.map(Progress.After(_))
  )

  /** Any offset that can be encoded, even if no query reaches it. */
  val streamOffset: Gen[StreamOffset] = for {
    graph <- shardGraph
    shards <- Gen.sequence[Vector[(ShardId, ShardProgress)], (ShardId, ShardProgress)](graph.map {
      shard =>
        val waits = Gen.someOf(shard.parents)
        val first = Gen.option(sequenceNumber)
        Gen.zip(progress, waits, Gen.option(completeAsOf), first).map {
          case (at, waits, complete, first) =>
            shard.id -> ShardProgress(at, waits.toSet, complete, first)
        }
    })
    created <- instant
  } yield StreamOffset(arn, created, SortedMap.from(shards))

  /** An offset of one to three streams, two of which may have the same name. */
  val offset: Gen[SourceOffset] = for {
    arns <- Gen.someOf(
      arn,
      arn.copy(region = "us-east-1"),
      arn.copy(name = StreamName("refunds"))
    )
    offsets <- Gen.listOfN(math.max(1, arns.size), streamOffset)
  } yield SourceOffset.of(
    offsets.zip(if (arns.isEmpty) Seq(arn) else arns.toSeq).map { case (offset, arn) =>
      offset.copy(stream = arn)
    }
  )

  /** Any record, also one without a partition key or with an empty one. */
  val anyRecord: Gen[Record] = for {
    number <- sequenceNumber
    key <- Gen.option(Gen.oneOf(partitionKey, Gen.const("")))
    data <- Gen.choose(0, 40).flatMap(Gen.listOfN(_, Gen.choose(Byte.MinValue, Byte.MaxValue)))
    arrival <- instant
    encryption <- Gen.oneOf(None, Some("NONE"), Some("KMS"))
  } yield Record(number, key, data.toArray, arrival.toEpochMilli, encryption)

  def record(number: Long, bytes: Int): Record =
    Record(SequenceNumber(number.toString), Some("k"), new Array[Byte](bytes), number * 10, None)

  /** The pages of one shard from its start. Only the page at the end of the shard may be empty. */
  val pages: Gen[Vector[StoredPage]] = for {
    sizes <- Gen.choose(1, 6).flatMap(Gen.listOfN(_, Gen.choose(1, 5)))
    bytes <- Gen.listOfN(sizes.sum, Gen.choose(0, 30))
    isEnded <- Gen.oneOf(true, false)
    hasEmptyEnd <- Gen.oneOf(true, false)
  } yield {
    val records = bytes.zipWithIndex.map { case (size, index) => record(index + 1L, size) }
    val cuts = sizes.scanLeft(0)(_ + _)
    val open = cuts.zip(cuts.drop(1)).toVector.map { case (begin, end) =>
      val from = if (begin == 0) Progress.TrimHorizon else after(records(begin - 1))
      val isLast = isEnded && !hasEmptyEnd && end == records.size
      val upTo = if (isLast) Progress.Finished else after(records(end - 1))
      StoredPage(from, PackedRecords(records.slice(begin, end).toVector), upTo)
    }
    if (isEnded && hasEmptyEnd)
      open :+ StoredPage(open.last.upTo, PackedRecords(Vector.empty), Progress.Finished)
    else open
  }

  def after(record: Record): Progress = Progress.After(record.sequenceNumber)
}
