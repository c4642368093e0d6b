package sparkkinesis.source.plan

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.shardOf

class HeldBackWarningSuite extends AnyFunSuite {
  private def heldBack(upTo: Long) = Some(HeldBack(shardOf(1), upTo, 3))

  test(
    "a shard that holds others back and is not read any further is named, but not all the time"
  ) {
    val warning = new HeldBackWarning("orders")
    val warnings = (0 to 400).flatMap(second => warning.seen(heldBack(60000), second.seconds))
    assert(warnings.size === 2)
    assert(
      warnings.head.startsWith(
        s"3 shards of orders wait for ${shardOf(1)}. It was read up to 1970-01-01T00:01:00Z, and " +
          "no further for 30 seconds."
      )
    )
  }

  test("a shard that is read on, or holds others back only now and then, is not worth a warning") {
    val warning = new HeldBackWarning("orders")
    (0 to 400).foreach { second =>
      assert(warning.seen(heldBack(second * 10L), second.seconds) === None)
    }
    (401 to 800).foreach { second =>
      val current = if (second % 20 == 0) None else heldBack(5000)
      assert(warning.seen(current, second.seconds) === None)
    }
  }
}
