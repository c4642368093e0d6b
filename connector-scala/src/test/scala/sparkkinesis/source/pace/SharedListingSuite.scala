package sparkkinesis.source.pace

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{newStream, stream}
import sparkkinesis.client.{KinesisException, ShardListing}
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis.listing

/**
 * The shared listing
 *   - is made once for many shards, and again after ten seconds;
 *   - is never older than its user allows;
 *   - makes no call for a while after a failure, and then continues at the page that failed.
 */
class SharedListingSuite extends AnyFunSuite {
  private val shards = newStream(2)
  private val busy = new KinesisException.LimitExceeded("too many calls")

  test("ten thousand shards that need it cost one call in ten seconds") {
    val kinesis = new ScriptedKinesis().listing(listing(shards: _*)).listing(listing(shards: _*))
    val shared = new SharedListing
    (0 until 10000).foreach(n => assert(shared.shards(kinesis, stream, 0, 100L + n) === shards))
    assert(kinesis.listed.size === 1)
    shared.shards(kinesis, stream, 0, 10101)
    assert(kinesis.listed.size === 2)
  }

  test("a listing from before the reader began does not count: it may lack the shard") {
    val kinesis = new ScriptedKinesis().listing(listing()).listing(listing(shards: _*))
    val shared = new SharedListing
    assert(shared.shards(kinesis, stream, 0, 1000).isEmpty)
    assert(shared.shards(kinesis, stream, 1001, 1002) === shards)
  }

  test("while it fails, calls are rare, and it continues at the page that failed") {
    val kinesis = new ScriptedKinesis().listing(ShardListing(shards.take(1), Some("2"), None))
    (1 to 20).foreach(_ => kinesis.listing(throw busy))
    kinesis.listing(listing(shards(1)))
    val shared = new SharedListing
    val answers = (0 until 600000 by 10).iterator.map { now =>
      try Some(shared.shards(kinesis, stream, 0, now.toLong))
      catch { case failure: KinesisException => assert(failure eq busy); None }
    }
    assert(answers.collectFirst { case Some(all) => all } === Some(shards))
    assert(kinesis.listed.size === 22, "the first page once")
  }
}
