package sparkkinesis.simulator.state

import java.time.Instant

import scala.concurrent.duration._

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.PutResult
import sparkkinesis.model._
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.record.SequenceParts
import sparkkinesis.simulator.service.SimulatedKinesis

/** Laws of the pure state, over any history of puts and reshards. */
final class StatePropertySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import StatePropertySuite._

  // A shrunk history is another history; the seed that ScalaCheck prints replays the failing one.
  private implicit val noShrink: Shrink[Vector[Step]] = Shrink.shrinkAny

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  test("the open shards cover the hash key space exactly once") {
    forAll(histories) { history =>
      run(history).foreach { case (state, _) =>
        val ranges = stream(state).openShards.map(_.hashKeys)
        assert(ranges.reduce(_.merge(_)) == HashKeyRange.All)
      }
    }
  }

  test("a listing that lags shows the shards of that earlier time") {
    forAll(histories, Gen.choose(0, 300)) { (history, lagMillis) =>
      val states = run(history).map(_._1)
      val now = Start.plusMillis((history.size - 1) * 7L)
      val step = math.max(0, (history.size - 1) * 7 - lagMillis) / 7
      val listed = stream(states.last).listed(now, lagMillis.millis)
      assert(listed.map(_.shard) == stream(states(step + 1)).shards.map(_.shard))
    }
  }

  test(
    "the children of a closed shard have its hash keys, together with its siblings' after a merge"
  ) {
    forAll(histories) { history =>
      val end = stream(run(history).last._1)
      end.shards.filterNot(_.isOpen).foreach { parent =>
        val children = end.children(parent)
        val siblings = children.flatMap(_.parents).distinct.flatMap(end.find(_, Start))
        val (before, after) = (siblings.map(_.hashKeys), children.map(_.hashKeys))
        assert(
          before.sortBy(_.first).reduce(_.merge(_)) == after.sortBy(_.first).reduce(_.merge(_))
        )
      }
    }
  }

  test("sequence numbers grow within a shard, and from parents to children") {
    forAll(histories) { history =>
      val end = stream(run(history).last._1)
      end.shards.foreach { shard =>
        val numbers = shard.records.map(_.sequenceNumber)
        val listed = shard.shard
        val all = listed.first +: numbers :++ listed.last
        assert(all.zip(all.tail).forall { case (a, b) => a < b })
        end.children(shard).foreach(child => assert(listed.last.exists(_ < child.shard.first)))
        assert(all.forall(_.text.length == 56))
      }
    }
  }

  test("the parts of a sequence number can be read from it") {
    val parts = for {
      created <- Gen.choose(0L, 0xfffffffffL)
      index <- Gen.choose(0L, Long.MaxValue)
      arrived <- Gen.choose(0L, 0xfffffffffL)
      shard <- Gen.choose(0, Int.MaxValue)
    } yield SequenceParts(created, index, arrived, shard)
    forAll(parts) { parts =>
      val number = parts.number
      assert(number.text.length == 56 && SequenceParts.of(number).contains(parts))
    }
  }

  test("every record is read exactly once, in the order of its key") {
    forAll(histories) { history =>
      val states = run(history)
      val written = states.collect { case (_, Some(result)) => result.sequenceNumber }
      val end = stream(states.last._1)
      val read = end.shards.flatMap(readWhole(states.last._1, _))
      assert(read.map(_.sequenceNumber).toSet == written.toSet && read.size == written.size)
      read.groupBy(_.partitionKey).values.foreach { records =>
        assert(records.map(_.arrivalMillis) == records.map(_.arrivalMillis).sorted)
      }
    }
  }

  private def run(history: Vector[Step]): Vector[(State, Option[PutResult.Written])] = {
    val created = CreateStream(Arn, 2).run(State.empty(Settings()), Start).state
    history.zipWithIndex.scanLeft((created, Option.empty[PutResult.Written])) {
      case ((state, _), (step, i)) =>
        val now = Start.plusMillis(i * 7L)
        step(stream(state)) match {
          case put: PutRecord =>
            val outcome = put.run(state, now)
            (outcome.state, outcome.answer.toOption.map(_.result))
          case reshard => (reshard.run(state, now).state, None)
        }
    }
  }

  private def readWhole(state: State, shard: ShardState): Vector[Record] = {
    val now = Start.plusMillis(1.hour.toMillis)
    val first = GetShardIterator(Arn, shard.id, Position.TrimHorizon).answer(state, now).toOption
    Iterator
      .iterate(first.map(it => GetRecords(None, it, 3).answer(state, now).toOption.get)) { page =>
        page.filter(p => !p.isAtTip).flatMap(_.next).map { next =>
          GetRecords(None, next, 3).answer(state, now).toOption.get
        }
      }
      .takeWhile(_.nonEmpty)
      .flatten
      .flatMap(_.records)
      .toVector
  }

  private def stream(state: State): StreamState = state.streams(Arn)
}

private[simulator] object StatePropertySuite {
  val Start: Instant = Instant.parse("2026-01-01T00:00:00Z")
  val Arn: StreamArn = SimulatedKinesis.arn(StreamName("s"))

  /** Chooses the next operation for a stream. A refused operation changes nothing. */
  type Step = StreamState => Operation[Any]

  private val puts: Gen[Step] = Gen.choose(0, 9).map { key => _ =>
    PutRecord(Arn, PutEntry(s"key-$key", Array.emptyByteArray, None))
  }

  private val splits: Gen[Step] =
    Gen.zip(Gen.choose(0, 100), Gen.choose(1, 99)).map { case (which, percent) =>
      stream => {
        val shard = pick(stream, which)
        val range = shard.hashKeys
        val start = range.first.value + (range.last.value - range.first.value) * percent / 100
        SplitShard(Arn, shard.id, HashKey(start))
      }
    }

  private val merges: Gen[Step] = Gen.choose(0, 100).map { which => stream =>
    val shard = pick(stream, which)
    val neighbour = stream.openShards.find(_.hashKeys.isAdjacentTo(shard.hashKeys))
    MergeShards(Arn, shard.id, neighbour.getOrElse(shard).id)
  }

  private val scalings: Gen[Step] =
    Gen.choose(1, 8).map(target => _ => UpdateShardCount(Arn, target))

  val histories: Gen[Vector[Step]] = Gen
    .choose(1, 40)
    .flatMap(
      Gen.containerOfN[Vector, Step](
        _,
        Gen.frequency(6 -> puts, 2 -> splits, 2 -> merges, 1 -> scalings)
      )
    )

  private def pick(stream: StreamState, which: Int): ShardState =
    stream.openShards(which % stream.open.size)
}
