package sparkkinesis.simulator.journal

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import java.time.Instant

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalacheck.Gen

import sparkkinesis.client.ConsumerRef
import sparkkinesis.model.{HashKey, PutEntry, RecordDistribution, StreamArn, StreamName}
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.service.Journal
import sparkkinesis.simulator.state.StatePropertySuite.{Arn, Start, histories}
import sparkkinesis.simulator.state._

/** Histories to keep, and directories to keep them in. */
private[journal] object JournalFixture {
  private val Elsewhere: StreamArn =
    StreamArn("aws", "eu-west-1", "123456789012", StreamName("other.stream"))

  val settings: Settings = Settings(changeTime = 20.millis)

  /** The golden file in this repository. */
  val golden: Path = Iterator
    .iterate(Option(Paths.get("").toAbsolutePath))(_.flatMap(path => Option(path.getParent)))
    .takeWhile(_.nonEmpty)
    .flatten
    .map(_.resolve("tests/golden/journal-v1"))
    .find(Files.exists(_))
    .getOrElse(throw new IllegalStateException("No tests/golden/journal-v1 above."))

  /** At least one of each operation; each succeeds after those before it. */
  def samples: Vector[Changing[Any]] = goldenHistory ++ Vector(
    IncreaseStreamRetentionPeriod(Arn, 48),
    DecreaseStreamRetentionPeriod(Arn, 24),
    UpdateMaxRecordSize(Arn, 2048),
    StartStreamEncryption(Arn, Encryption.Kms, "key"),
    PutRecord(Arn, entry("encrypted")),
    StopStreamEncryption(Arn, Encryption.Kms),
    EnableEnhancedMonitoring(Arn, ShardMetric.All),
    DisableEnhancedMonitoring(Arn, Seq(ShardMetric.IncomingBytes)),
    AddTagsToStream(Arn, Map("a" -> "1", "b" -> "")),
    RemoveTagsFromStream(Arn, Seq("a")),
    TagResource(Arn, Map("c" -> "é")),
    UntagResource(Arn, Seq("b")),
    UpdateStreamMode(Arn, StreamMode.OnDemand),
    UpdateStreamRecordDistributionStrategy(Arn, RecordDistribution.Auto),
    PutRecords(Arn, Seq(entry("a"), entry(""))),
    RegisterStreamConsumer(Arn, "me"),
    RegisterStreamConsumer(Arn, "you"),
    DeregisterStreamConsumer(ConsumerRef.ByName(Arn, "me")),
    RecreateStream(Arn),
    CreateStream(
      Elsewhere,
      3,
      StreamMode.OnDemand,
      RecordDistribution.Auto,
      10240,
      Map("key" -> "value")
    ),
    RegisterStreamConsumer(Elsewhere, "me"),
    DeleteStream(Elsewhere, withConsumers = true)
  )

  /** The history in the golden file. It never changes. */
  val goldenHistory: Vector[Changing[Any]] = Vector(
    CreateStream(Arn, 2),
    PutRecord(Arn, entry("é🔑")),
    PutRecords(Arn, Seq(entry("a"), PutEntry("b", Array[Byte](0, -1), Some(HashKey.Max)))),
    SplitShard(Arn, ShardState.id(0), HashKey(BigInt(1) << 100)),
    MergeShards(Arn, ShardState.id(2), ShardState.id(3)),
    UpdateShardCount(Arn, 4),
    CreateStream(Elsewhere, 1),
    DeleteStream(Elsewhere)
  )

  def entry(key: String): PutEntry = PutEntry(key, key.getBytes(UTF_8), None)

  /** A step of a history with more kinds of operations. */
  type Wide = State => Operation[Any]

  private val batches: Gen[Wide] = Gen
    .listOf(Gen.choose(0, 99).map(key => entry(s"key-$key")))
    .map(entries => _ => PutRecords(Arn, entries))

  val mixed: Gen[Vector[Wide]] = for {
    history <- histories
    more <- Gen.listOf(
      Gen.frequency(
        6 -> batches,
        1 -> Gen.const[Wide](_ => DeleteStream(Arn)),
        3 -> Gen.const[Wide](_ => CreateStream(Arn, 3)),
        2 -> Gen.const[Wide](_ => CreateStream(Elsewhere, 1))
      )
    )
    wide = history.map(step =>
      (state: State) => state.streams.get(Arn).fold[Operation[Any]](CreateStream(Arn, 1))(step)
    )
    places <- Gen.listOfN(wide.size + more.size, Gen.double)
  } yield (wide ++ more).zip(places).sortBy(_._2).map(_._1)

  /** A state, down to what equality of sequences leaves out. */
  def always(operation: Operation[Any]): Wide = _ => operation

  def told(state: State): Any = (
    state,
    state.streams.map { case (arn, stream) => arn -> stream.shards.map(s => s.base -> s.end) }
  )

  def append(
      journal: Journal,
      state: State,
      operation: Operation[Any],
      now: Instant
  ): State = operation match {
    case changing: Changing[Any] =>
      val outcome = changing.run(state, now)
      outcome.answer.foreach(journal.append(changing, _, now))
      outcome.state
    case _: ReadOnly[Any] => state
  }

  /** Runs the steps, 7.000001 ms apart, because times are stored to the nanosecond. */
  def enact(journal: Journal, state: State, steps: Vector[Wide]): State =
    steps.zipWithIndex.foldLeft(state) { case (state, (step, i)) =>
      append(journal, state, step(state), later(state).plusNanos((i + 1) * 7000001L))
    }

  /** Behind all that has happened; more than a change takes. */
  private def later(state: State): Instant =
    state.streams.valuesIterator
      .map(_.change.until)
      .foldLeft(Start)((a, b) => if (a.isBefore(b)) b else a)

  def withJournal[A](directory: Path)(use: (FileJournal, State) => A): A =
    Using.resource(FileJournal.open(directory))(journal =>
      use(journal, journal.restored(settings).state)
    )

  def inDirectory[A](use: Path => A): A = {
    val directory = Files.createTempDirectory("journal")
    try use(directory)
    finally
      Using.resource(Files.walk(directory))(
        _.iterator.asScala.toVector.reverse.foreach(Files.delete)
      )
  }
}
