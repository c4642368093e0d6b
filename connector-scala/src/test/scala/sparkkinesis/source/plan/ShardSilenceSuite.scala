package sparkkinesis.source.plan

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._

class ShardSilenceSuite extends AnyFunSuite {
  private val (one, other) = (shardOf(0), shardOf(1))

  test("the shard that was silent for longest counts, since its last report") {
    val silence = new ShardSilence
    silence.reported(one, 10.seconds)
    silence.reported(other, 20.seconds)
    assert(silence.longest(Set(one, other), 25.seconds) === 15.seconds)
    silence.reported(one, 24.seconds)
    assert(silence.longest(Set(one, other), 25.seconds) === 5.seconds)
  }

  test("a shard without a report counts since it was first asked for, and a gone one not at all") {
    val silence = new ShardSilence
    assert(silence.longest(Set(one), 10.seconds) === Duration.Zero)
    assert(silence.longest(Set(one), 40.seconds) === 30.seconds)
    assert(silence.longest(Set(other), 41.seconds) === Duration.Zero)
    assert(silence.longest(Set.empty, 50.seconds) === Duration.Zero)
  }
}
