package sparkkinesis.source.watch

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model.{StreamRef, StreamShard}
import sparkkinesis.source.ReadOnlyKinesis
import sparkkinesis.source.ScriptedKinesis.summary

class ExpiryWatchSuite extends AnyFunSuite {
  private val noon = Instant.parse("2026-11-23T12:00:00Z")

  /** A query that has read shard 0 up to some time, and shard 1 up to now. */
  private class Scene extends ReadOnlyKinesis with Clock {
    var now: Instant = noon
    var behind: FiniteDuration = 0.hours
    var retention: FiniteDuration = 24.hours
    var isDown = false
    var described = 0
    var isNew = false
    var warnings: Vector[String] = Vector.empty[String]

    override def sleep(duration: FiniteDuration): Unit = fail("it never sleeps")

    override def describeStream(stream: StreamRef): StreamSummary = {
      described += 1
      if (isDown) throw new KinesisException.Unreachable("no answer", null)
      summary(retention = retention)
    }

    private def unread(): Map[StreamShard, Instant] =
      if (isNew) Map.empty
      else Map(shardOf(0) -> now.minusMillis(behind.toMillis), shardOf(1) -> now)

    private val watched = ExpiryWatch.Stream(arn, stream, this, retention, () => now)
    val watch = new ExpiryWatch(Seq(watched), this, () => unread(), text => warnings :+= text)

    def look(later: FiniteDuration = 10.seconds): Int = {
      now = now.plusMillis(later.toMillis)
      watch.look()
      warnings.size
    }
  }

  test("the time is that of the shard whose records expire first") {
    val scene = new Scene
    scene.behind = 5.hours
    assert(scene.watch.soonest.map(it => (it.shard, it.left)) === Some(shardOf(0) -> 19.hours))
    scene.behind = 30.hours
    assert(scene.watch.soonest.map(_.left) === Some(0.hours))
    scene.isNew = true
    assert(scene.watch.soonest.isEmpty && scene.look() === 0)
  }

  test("with more than a quarter of the retention period left, no call is made") {
    val scene = new Scene
    scene.behind = 18.hours
    assert(scene.look() === 0 && scene.described === 0)
  }

  test("before records expire it warns, at most every five minutes, and names what to do") {
    val scene = new Scene
    scene.behind = 18.hours + 1.minute
    assert((1 to 29).map(_ => scene.look()).distinct === Seq(1))
    assert(scene.look(20.seconds) === 2)
    assert(scene.warnings.head.contains(s"Records in ${shardOf(0)} expire in 5 h 59 min unless"))
    assert(
      scene.warnings.head.contains("18 h 1 min behind, and the stream retains records for 24 h")
    )
    assert(scene.warnings.head.contains("Increase the retention period"))
  }

  test("a retention period that was increased meanwhile ends the warnings") {
    val scene = new Scene
    scene.behind = 20.hours
    assert(scene.look() === 1)
    scene.retention = 72.hours
    assert(scene.look(6.minutes) === 1 && scene.watch.soonest.map(_.left) === Some(52.hours))
    val calls = scene.described
    assert(scene.look(6.minutes) === 1 && scene.described === calls)
  }

  test("it warns by the last known retention period if the service cannot be asked") {
    val scene = new Scene
    scene.behind = 23.hours
    scene.isDown = true
    assert(scene.look() === 1)
  }
}
