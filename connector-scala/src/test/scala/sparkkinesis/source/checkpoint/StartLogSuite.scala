package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.apache.logging.log4j.Level
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{Position, SequenceNumber}
import sparkkinesis.source.position.ByShard
import sparkkinesis.spark.LogTap

class StartLogSuite extends AnyFunSuite {
  private val time = Instant.parse("2026-01-02T03:04:05Z")
  private val number = SequenceNumber("7")

  private def offsetOf(shards: (Int, Progress)*): SourceOffset = SourceOffset.of(
    Seq(
      StreamOffset(
        arn,
        time,
        SortedMap.from(shards.map { case (id, progress) =>
          shardId(id) -> ShardProgress(progress, Set.empty)
        })
      )
    )
  )

  private def heard(level: Level)(use: => Unit): Seq[String] =
    LogTap.of(classOf[StartLog])(use).filter(_.getLevel == level).map {
      _.getMessage.getFormattedMessage
    }

  private def warnings(option: Position, recorded: Progress): Seq[String] = heard(Level.WARN) {
    val first = offsetOf(0 -> recorded)
    new StartLog(Map(arn -> ByShard(option)), Some(first)).begin(first)
  }

  test("an option that differs from the checkpoint is logged with both, once per run") {
    val said = warnings(Position.TrimHorizon, Progress.AtTimestamp(time))
    assert(said.size === 1)
    Seq("'startingPosition' is 'trim_horizon'", arn.toString, s"since $time", "new checkpoint")
      .foreach(text => assert(said.head.contains(text)))
    assert(warnings(Position.Latest, Progress.TrimHorizon).head.contains("'latest'"))
    val other = warnings(Position.AtTimestamp(time.plusSeconds(1)), Progress.AtTimestamp(time))
    assert(other.head.contains(time.plusSeconds(1).toString))
  }

  test("an option that is what the checkpoint says is not logged") {
    Seq(
      Position.Latest -> Progress.AtTimestamp(time),
      Position.TrimHorizon -> Progress.TrimHorizon,
      Position.AtTimestamp(time) -> Progress.AtTimestamp(time),
      Position.AtSequenceNumber(number) -> Progress.From(number),
      Position.AfterSequenceNumber(number) -> Progress.After(number)
    ).foreach { case (option, recorded) => assert(warnings(option, recorded) === Nil) }
  }

  private def log(recorded: Option[SourceOffset] = None) =
    new StartLog(Map(arn -> ByShard(Position.TrimHorizon)), recorded)

  test("the start of each shard is logged once") {
    val starts = log()
    val first = offsetOf(0 -> Progress.After(number), 1 -> Progress.TrimHorizon)
    val said = heard(Level.INFO)((1 to 2).foreach(_ => starts.begin(first)))
    assert(said.size === 1)
    Seq(s"${shardId(0).name} after record 7", s"${shardId(1).name} at the oldest record").foreach {
      text => assert(said.head.contains(text))
    }
    val next = offsetOf(0 -> Progress.After(SequenceNumber("8")), 2 -> Progress.TrimHorizon)
    val later = heard(Level.INFO)(starts.begin(next))
    assert(later.size === 1 && later.head.contains(shardId(2).name))
    assert(!later.head.contains(shardId(0).name))
  }

  test("a message names a bounded number of shards") {
    val many = offsetOf((0 until 10000).map(_ -> Progress.TrimHorizon): _*)
    val said = heard(Level.INFO)(log().begin(many))
    assert(said.size === 1 && said.head.contains("and 9980 other shards"))
    assert(said.head.length < 2000)
  }
}
