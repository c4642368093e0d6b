package sparkkinesis.source.plan

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.source.protocol.{Frontier, Mark}

class UnreadSinceSuite extends AnyFunSuite {
  private def at(second: Long) = Instant.ofEpochSecond(second)

  private def shard(number: Int, completeAsOf: Option[Instant], progress: Progress) =
    shardId(number) -> ShardProgress(progress, Set.empty, completeAsOf)

  private val after = Progress.After(SequenceNumber("7"))

  private def since(frontiers: (Int, Frontier)*) = UnreadSince.of(
    only(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap(
          shard(0, Some(at(100)), after),
          shard(1, Some(at(200)), after),
          shard(2, None, Progress.TrimHorizon),
          shard(3, Some(at(50)), Progress.Finished)
        )
      )
    ),
    frontiers.map { case (number, frontier) => shardOf(number) -> frontier }.toMap
  )

  private def frontier(completeAsOf: Long, marks: Mark*) =
    Frontier(marks.toVector, Nil, 0, completeAsOf * 1000)

  test("it is the time up to which batches have processed a shard, and none if nothing is known") {
    assert(since() === Map(shardOf(0) -> at(100), shardOf(1) -> at(200)))
  }

  test("a shard in which executors found nothing more is unread since that time") {
    assert(
      since(0 -> frontier(900), 2 -> frontier(800), 1 -> frontier(150)) ===
        Map(shardOf(0) -> at(900), shardOf(1) -> at(200), shardOf(2) -> at(800))
    )
  }

  test("records that were read ahead are not processed") {
    val waiting = frontier(900, Mark(after, 5, 50, 890000))
    assert(since(0 -> waiting)(shardOf(0)) === at(100))
    assert(since(0 -> frontier(0))(shardOf(0)) === at(100), "a page of unknown time")
  }
}
