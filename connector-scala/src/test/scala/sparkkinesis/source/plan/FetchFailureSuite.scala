package sparkkinesis.source.plan

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{ErrorCondition, KinesisException}
import sparkkinesis.source.protocol.FetchFailure

class FetchFailureSuite extends AnyFunSuite {
  private val shard = shardOf(3)

  test("the message has the shard, the stream, the service's message and the remedy") {
    val cause = new KinesisException.AccessDenied("GetRecords (region eu-west-1) failed: no key.")
    val failure = FetchFailure.of(cause, shard, 7)
    assert(failure.condition === "KINESIS_ACCESS_DENIED")
    assert(failure.shard === shard && failure.generation === 7)
    assert(
      failure.message === s"Reading $shard failed: " +
        s"GetRecords (region eu-west-1) failed: no key. ${ErrorCondition.of(cause).remedy}"
    )
  }

  test("a failure has the same condition as the same failure elsewhere") {
    Seq(
      new KinesisException.InvalidArgument("x"),
      new KinesisException.NotFound("x"),
      new KinesisException.Other("x")
    ).foreach { cause =>
      assert(FetchFailure.of(cause, shard, 7).condition === ErrorCondition.of(cause).condition)
    }
  }
}
