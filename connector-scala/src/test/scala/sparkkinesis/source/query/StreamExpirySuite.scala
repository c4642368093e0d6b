package sparkkinesis.source.query

import java.time.Instant

import scala.concurrent.duration._
import scala.util.{Failure, Success}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{KinesisException, Moment}
import sparkkinesis.model.StreamShard
import sparkkinesis.source.ScriptedKinesis.summary
import sparkkinesis.source.checkpoint.QueryStreamSuite
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.watch.Expiry

class StreamExpirySuite extends AnyFunSuite {
  private val noon = Instant.parse("2026-11-23T12:00:00Z")
  private val options = SourceOptions.parse(Map("streamArn" -> arn.toString), None)

  /** A query that has read shard 0 up to some time, and shard 1 up to now. */
  private class Scene {
    var now: Moment = Moment(noon, Instant.EPOCH)
    var behind: FiniteDuration = 0.hours
    var retention: FiniteDuration = 24.hours
    var isDown = false
    var described = 0
    var isNew = false
    var warnings: Vector[String] = Vector.empty[String]
    private val streams = new QueryStreams(options, Seq(QueryStreamSuite.described), () => 0.5)

    private def unread: Map[StreamShard, Instant] =
      if (isNew) Map.empty
      else Map(shardOf(0) -> now.now.minusMillis(behind.toMillis), shardOf(1) -> now.now)

    def soonest: Option[Expiry] = streams.soonestExpiry(unread, now)

    /** What the query wants done. */
    def wanted: Option[Command] = streams.lookAtExpiry(unread, now)

    /** Time passes, and the query looks. Returns the number of warnings so far. */
    def look(later: FiniteDuration = 10.seconds): Int = {
      val millis = later.toMillis
      now = Moment(now.now.plusMillis(millis), now.steady.plusMillis(millis))
      wanted.foreach { command =>
        assert(command === Command.Describe(arn))
        answer()
      }
      warnings.size
    }

    def answer(): Unit = {
      described += 1
      val summarized =
        if (isDown) Failure(new KinesisException.Unreachable("no answer"))
        else Success(summary(retention = retention))
      streams.described(arn, summarized, now).foreach {
        case Command.Warn(text) => warnings :+= text
        case other => fail(s"It wants $other.")
      }
    }
  }

  test("the time is that of the shard whose records expire first") {
    val scene = new Scene
    scene.behind = 5.hours
    assert(scene.soonest.map(it => (it.shard, it.left)) === Some(shardOf(0) -> 19.hours))
    scene.behind = 30.hours
    assert(scene.soonest.map(_.left) === Some(0.hours))
    scene.isNew = true
    assert(scene.soonest.isEmpty && scene.look() === 0)
  }

  test("with more than a quarter of the retention period left, the stream is not described") {
    val scene = new Scene
    scene.behind = 18.hours
    assert(scene.look() === 0 && scene.described === 0)
  }

  test("before records expire it warns, at most every five minutes, and names what to do") {
    val scene = new Scene
    scene.behind = 18.hours + 1.minute
    assert((1 to 30).map(_ => scene.look()).distinct === Seq(1))
    assert(scene.look() === 2 && scene.described === 2)
    assert(scene.warnings.head.contains(s"Records in ${shardOf(0)} expire in 5 h 59 min unless"))
    assert(
      scene.warnings.head.contains("18 h 1 min behind, and the stream retains records for 24 h")
    )
    assert(scene.warnings.head.contains("Increase the retention period"))
  }

  test("while the description is awaited, it is not asked for again") {
    val scene = new Scene
    scene.behind = 20.hours
    assert(scene.wanted === Some(Command.Describe(arn)))
    assert(scene.look(1.hour) === 0 && scene.described === 0)
    scene.answer()
    assert(scene.warnings.size === 1)
  }

  test("a retention period that was increased meanwhile ends the warnings") {
    val scene = new Scene
    scene.behind = 20.hours
    assert(scene.look() === 1)
    scene.retention = 72.hours
    assert(scene.look(6.minutes) === 1 && scene.soonest.map(_.left) === Some(52.hours))
    val calls = scene.described
    assert(scene.look(6.minutes) === 1 && scene.described === calls)
  }

  test("it warns by the last known retention period if the service cannot be asked") {
    val scene = new Scene
    scene.behind = 23.hours
    scene.isDown = true
    assert(scene.look() === 1 && scene.warnings.head.contains("retains records for 24 h"))
  }
}
