package sparkkinesis.client

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{newStream, stream}
import sparkkinesis.client.ListShardsRequest.{First, Next}
import sparkkinesis.source.ScriptedKinesis

/**
 * A listing of several pages
 *   - continues at the page that failed;
 *   - begins again if the service refuses the token of that page, but not for ever.
 */
class ShardListerSuite extends AnyFunSuite {
  private val shards = newStream(8)
  private val busy = new KinesisException.Throttled("busy")
  private def expired = new KinesisException.ListingExpired("the token has expired")
  private val first = First(stream, ShardFilter.FromTrimHorizon)

  private def lister(kinesis: ScriptedKinesis) =
    new ShardLister(kinesis, stream, ShardFilter.FromTrimHorizon)

  /** The pages before page `last`, and its number as their last token. */
  private def pagesBefore(last: Int): ScriptedKinesis =
    (1 until last).foldLeft(new ScriptedKinesis()) { (kinesis, page) =>
      kinesis.listing(ShardListing(Seq(shards(page - 1)), Some((page + 1).toString), None))
    }

  private def rest(from: Int): ShardListing = ShardListing(shards.drop(from - 1), None, None)

  test("a throttle on page 7: the next call asks for page 7") {
    val kinesis = pagesBefore(7).listing(throw busy).listing(throw busy).listing(rest(7))
    val paged = lister(kinesis)
    (1 to 2).foreach(_ => assert(intercept[KinesisException](paged.list()) eq busy))
    assert(paged.list().shards === shards)
    assert(kinesis.listed.count(_ == first) === 1)
    assert(kinesis.listed.takeRight(3).toSet === Set(Next(stream, "7")))
  }

  test("a complete listing is not continued") {
    val kinesis = pagesBefore(2).listing(rest(2)).listing(rest(1))
    val paged = lister(kinesis)
    assert(paged.list().shards === shards && paged.list().shards === shards)
    assert(kinesis.listed === Seq(first, Next(stream, "2"), first))
  }

  test("a token that has expired: the listing begins again") {
    val kinesis = pagesBefore(3).listing(throw expired).listing(rest(1))
    assert(lister(kinesis).list().shards === shards)
    assert(kinesis.listed.last === first)
  }

  test("a token that the service refuses as invalid: the listing begins again") {
    val invalid = new KinesisException.InvalidArgument("no such token")
    val kinesis = pagesBefore(3).listing(throw invalid).listing(rest(1))
    assert(lister(kinesis).list().shards === shards)
    assert(kinesis.listed.last === first)
  }

  test("after a permanent failure the next listing begins again") {
    def denied = new KinesisException.AccessDenied("no")
    val kinesis = new ScriptedKinesis()
    (1 to 4).foreach(_ => kinesis.listing(ShardListing(Nil, Some("2"), None)).listing(throw denied))
    val paged = lister(kinesis.listing(rest(1)))
    intercept[KinesisException.AccessDenied](paged.list())
    assert(kinesis.listed.size === 8)
    assert(paged.list().shards === shards && kinesis.listed.last === first)
  }

  test("a first page that is refused for ever is asked for once") {
    val kinesis = new ScriptedKinesis().listing(throw new KinesisException.NotFound("none"))
    intercept[KinesisException.NotFound](lister(kinesis).list())
    assert(kinesis.listed === Seq(first))
  }

  test("if tokens expire again and again, it fails after four attempts") {
    val kinesis = new ScriptedKinesis()
    (1 to 10).foreach { _ =>
      kinesis.listing(ShardListing(Nil, Some("2"), None)).listing(throw expired)
    }
    assert(intercept[KinesisException.ListingExpired](lister(kinesis).list()).isRetryable)
    assert(kinesis.listed.size === 8)
  }
}
