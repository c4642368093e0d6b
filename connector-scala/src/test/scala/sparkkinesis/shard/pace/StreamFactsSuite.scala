package sparkkinesis.shard.pace

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{newStream, stream}
import sparkkinesis.client.{KinesisClient, KinesisException, ShardListing}
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis.listing

/**
 * The listing of a stream, shared by its readers,
 *   - is made once for many shards, and again after ten seconds;
 *   - is never older than its user allows;
 *   - makes no call for a while after a failure, and then continues at the page that failed, if the
 *     first pages are recent enough.
 */
class StreamFactsSuite extends AnyFunSuite {
  private val shards = newStream(2)
  private val busy = new KinesisException.LimitExceeded("too many calls")

  private def list(facts: StreamFacts, kinesis: KinesisClient, notBefore: Long, now: Long) =
    facts.shards(kinesis, stream, Instant.ofEpochMilli(notBefore), Instant.ofEpochMilli(now))

  test("ten thousand shards that need it cost one call in ten seconds") {
    val kinesis = new ScriptedKinesis().listing(listing(shards: _*)).listing(listing(shards: _*))
    val facts = new StreamFacts
    (0 until 10000).foreach(n => assert(list(facts, kinesis, 0, 100L + n) === shards))
    assert(kinesis.listed.size === 1)
    list(facts, kinesis, 0, 10101)
    assert(kinesis.listed.size === 2)
  }

  test("a listing from before the reader began does not count: it may lack the shard") {
    val kinesis = new ScriptedKinesis().listing(listing()).listing(listing(shards: _*))
    val facts = new StreamFacts
    assert(list(facts, kinesis, 0, 1000).isEmpty)
    assert(list(facts, kinesis, 1001, 1002) === shards)
  }

  test("while it fails, calls are rare, and it continues at the page that failed") {
    val kinesis = new ScriptedKinesis().listing(ShardListing(shards.take(1), Some("2"), None))
    (1 to 6).foreach(_ => kinesis.listing(throw busy))
    kinesis.listing(listing(shards(1)))
    val facts = new StreamFacts
    val answers = (0 until 60000 by 10).iterator.map { now =>
      try Some(list(facts, kinesis, 0, now.toLong))
      catch { case failure: KinesisException => assert(failure eq busy); None }
    }
    assert(answers.collectFirst { case Some(all) => all } === Some(shards))
    assert(kinesis.listed.size === 8, "the first page once")
  }

  test("a listing that began before its user needs it, or long ago, is not continued") {
    Seq(5000L -> 5000L, 0L -> 120001L).foreach { case (notBefore, now) =>
      val kinesis = new ScriptedKinesis()
        .listing(ShardListing(shards.take(1), Some("2"), None))
        .listing(throw busy)
        .listing(listing(shards: _*))
      val facts = new StreamFacts
      intercept[KinesisException](list(facts, kinesis, 0, 0))
      assert(list(facts, kinesis, notBefore, now) === shards)
      assert(kinesis.listed.last === kinesis.listed.head, "it began again")
    }
  }
}
