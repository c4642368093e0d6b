package sparkkinesis.simulator.journal

import java.nio.file.{Files, Path}
import java.time.Instant

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.model.StreamName
import sparkkinesis.simulator.http.request.Requests
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.service.{
  Journal,
  JournalException,
  RestoredState,
  SimulatedClock,
  SimulatedKinesis
}
import sparkkinesis.simulator.state.StatePropertySuite.{Arn, Start}
import sparkkinesis.simulator.state.{Behaviour, ErrorCode, Settings, State}

/** What a journal restores, and what it refuses. */
final class FileJournalSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import JournalFixture._

  private implicit val noShrink: Shrink[Vector[Vector[Wide]]] = Shrink.shrinkAny

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  test("after any history and any restarts the state is restored") {
    forAll(Gen.listOfN(3, mixed).map(_.toVector)) { runs =>
      inDirectory { directory =>
        runs.foldLeft(State.empty(settings)) { (before, history) =>
          withJournal(directory) { (journal, restored) =>
            assert(told(restored) == told(before))
            enact(journal, restored, history)
          }
        }
      }
    }
  }

  test("streams keep the settings of their creation when the settings change") {
    inDirectory { directory =>
      val retentions = Seq(24.hours, 48.hours)
      retentions.zipWithIndex.foreach { case (retention, i) =>
        val journal = FileJournal.open(directory)
        val state = journal.restored(settings.copy(retention = retention)).state
        append(journal, state, CreateStream(SimulatedKinesis.arn(StreamName(s"s$i")), 1), Start)
        journal.close()
      }
      withJournal(directory) { (_, state) =>
        assert(state.settings == settings)
        val kept = state.streams.map { case (arn, stream) =>
          arn.name.name -> stream.config.retention
        }
        assert(kept == Map("s0" -> 24.hours, "s1" -> 48.hours))
      }
    }
  }

  test("the records that a partial put wrote are restored, and no others") {
    inDirectory { directory =>
      val before = withJournal(directory) { (journal, restored) =>
        val put = PutRecords(Arn, (0 until 9).map(i => entry(s"$i")))
        val partial =
          PartialPutRecords(
            put,
            Set(0, 3, 6),
            ErrorCode.InternalFailure,
            Seq(5, 3, 8, 0, 7, 1, 6, 2, 4)
          )
        val none = PartialPutRecords.throttled(put, (0 until 9).toSet)
        enact(journal, restored, Vector(CreateStream(Arn, 1), partial, none).map(always))
      }
      withJournal(directory) { (_, restored) =>
        assert(told(restored) == told(before))
        assert(
          restored.streams(Arn).shards.head.records.flatMap(_.partitionKey) ==
            Seq("5", "8", "7", "1", "2", "4")
        )
      }
    }
  }

  test("what AWS did to records and shards is restored, whatever the next start does") {
    val aws = Behaviour(
      visibilityDelay = 1.minute,
      arrivalFall = 1.minute,
      reshardInterval = 2.millis,
      onDemandScaling = 2,
      seed = 3
    )
    forAll(mixed) { steps =>
      inDirectory { directory =>
        val before = Using.resource(FileJournal.open(directory)) { journal =>
          enact(journal, journal.restored(settings.copy(behaviour = aws)).state, steps)
        }
        withJournal(directory) { (_, restored) =>
          assert(told(restored) == told(before.copy(settings = settings)))
        }
      }
    }
  }

  test("records that were trimmed during several days are trimmed again") {
    val gaps = Gen.oneOf(0.seconds, 40.seconds, 90.seconds, 9.hours, 23.hours)
    forAll(mixed.flatMap(steps => Gen.listOfN(steps.size, gaps).map(steps.zip(_)))) { history =>
      inDirectory { directory =>
        val before = withJournal(directory) { (journal, restored) =>
          history.foldLeft((restored, Start)) { case ((state, time), (step, gap)) =>
            val now = time.plusNanos(gap.toNanos).plusMillis(50)
            (append(journal, state, step(state), now), now)
          }
        }
        withJournal(directory)((_, restored) => assert(told(restored) == told(before._1)))
      }
    }
  }

  test("a stream that was deleted with its consumers stays deleted") {
    inDirectory { directory =>
      val history =
        Vector(CreateStream(Arn, 1), RegisterStreamConsumer(Arn, "me"), DeleteStream(Arn, true))
      val before =
        withJournal(directory)((journal, state) => enact(journal, state, history.map(always)))
      withJournal(directory)((_, restored) => assert(told(restored) == told(before)))
    }
  }

  test("an entry that the current rules refuse is an error, and does not change the state") {
    inDirectory { directory =>
      withJournal(directory)((journal, _) => journal.append(DeleteStream(Arn), (), Start))
      val said = intercept[JournalException](withJournal(directory)((_, _) => ()))
      assert(said.getMessage.contains("DeleteStream") && said.getMessage.contains("not found"))
    }
  }

  test("the service's time does not go back behind the last entry") {
    inDirectory { directory =>
      def kinesis: SimulatedKinesis =
        new SimulatedKinesis(new SimulatedClock(Start), journal = FileJournal.open(directory))
      Using.resource(kinesis) { before =>
        before.advance(48.hours)
        before.createStream(StreamName("s"), 1)
      }
      Using.resource(kinesis)(after => assert(after.now == Start.plusSeconds(48 * 3600)))
    }
  }

  test("a change that cannot be stored has no effect") {
    val failing = new Journal {
      override def restored(settings: Settings): RestoredState =
        RestoredState(State.empty(settings), Instant.MIN)
      override def append(operation: Changing[Any], answer: Any, now: Instant): Unit =
        throw new JournalException("The disk is full.")
      override def close(): Unit = ()
    }
    val kinesis = new SimulatedKinesis(new SimulatedClock(Start), journal = failing)
    assertThrows[JournalException](kinesis.createStream(StreamName("s"), 1))
    assert(kinesis.listStreams().isEmpty)
  }

  test("the format equals the golden file, when written and when read") {
    val bytes = Files.readAllBytes(golden)
    inDirectory { directory =>
      val state =
        withJournal(directory)((journal, state) => enact(journal, state, goldenHistory.map(always)))
      assert(Files.readAllBytes(directory.resolve("journal")).sameElements(bytes))
      Files.write(directory.resolve("journal"), bytes)
      withJournal(directory)((_, restored) => assert(told(restored) == told(state)))
    }
  }

  test("an operation that is replayed from the journal has the same effect") {
    inDirectory { directory =>
      val state =
        withJournal(directory)((journal, state) => enact(journal, state, samples.map(always)))
      withJournal(directory)((_, restored) => assert(told(restored) == told(state)))
    }
  }

  test("the journal can store every operation that changes the state") {
    val directory = Path.of(classOf[State].getProtectionDomain.getCodeSource.getLocation.toURI)
    val names = Using.resource(Files.walk(directory))(
      _.iterator.asScala
        .map { file =>
          directory.relativize(file).toString.replace('/', '.')
        }
        .toVector
    )
    val operations = names
      .filter(name => name.startsWith("sparkkinesis.simulator.") && name.endsWith(".class"))
      .map(name => Class.forName(name.stripSuffix(".class"), false, getClass.getClassLoader))
      .filter(kind => classOf[Changing[_]].isAssignableFrom(kind) && !kind.isInterface)
    assert(operations.contains(classOf[CreateStream]))
    val unknown = operations
      .filterNot(kind => Requests.canStore(kind) || Requests.skips(kind))
      .filterNot(_ == classOf[PartialPutRecords])
    assert(unknown.isEmpty, "Add a line to http.Requests, and a sample below.")
    val sampled = samples.map(_.getClass: Class[_]).toSet
    assert(operations.filter(Requests.canStore).toSet == sampled, "Add a sample below.")
  }
}
