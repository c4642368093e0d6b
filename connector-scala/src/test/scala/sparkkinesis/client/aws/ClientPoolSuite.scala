package sparkkinesis.client.aws

import java.time.Instant

import scala.concurrent.duration.FiniteDuration
import scala.jdk.DurationConverters._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model.{Position, PutEntry, ShardId, StreamRef}

class ClientPoolSuite extends AnyFunSuite {
  private final class Idle extends KinesisClient {
    var closed = 0
    override def describeStream(stream: StreamRef): StreamSummary = fail()
    override def listShards(request: ListShardsRequest): ShardListing = fail()
    override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator = fail()
    override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = fail()
    override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] = fail()
    override def close(): Unit = closed += 1
  }

  private final class SetClock extends Clock {
    var now: Instant = Instant.EPOCH
    override def sleep(duration: FiniteDuration): Unit = fail()
  }

  private def config(region: String) =
    ClientConfig(region, None, CredentialsConfig(CredentialsSource.DefaultChain, None))

  test("one client a configuration; closed once nobody has wanted it for a while") {
    val clock = new SetClock
    val pool = new ClientPool(_ => new Idle, clock, (_, _) => ())
    val (first, second) = (pool.borrow(config("a")), pool.borrow(config("a")))
    val idle = first.client.asInstanceOf[Idle]
    assert(second.client eq idle)
    first.close()
    first.close() // once is enough
    clock.now = clock.now.plus(ClientPool.IdleTime.toJava).plusSeconds(1)
    val other = pool.borrow(config("b"))
    assert(other.client ne idle)
    assert(idle.closed === 0, "the second borrower still has it")
    second.close()
    assert(pool.borrow(config("a")).client eq idle)
    assert(idle.closed === 0)
  }

  test("an idle client is closed when its time is over") {
    val clock = new SetClock
    val pool = new ClientPool(_ => new Idle, clock, (_, _) => ())
    val lease = pool.borrow(config("a"))
    lease.close()
    clock.now = clock.now.plus(ClientPool.IdleTime.toJava).plusSeconds(1)
    pool.borrow(config("b"))
    assert(lease.client.asInstanceOf[Idle].closed === 1)
    assert(pool.borrow(config("a")).client ne lease.client)
  }

  test("an idle client is closed though nobody uses the pool again") {
    val clock = new SetClock
    var due = Vector.empty[(FiniteDuration, () => Unit)]
    val pool = new ClientPool(_ => new Idle, clock, (delay, task) => due :+= (delay -> task))
    val lease = pool.borrow(config("a"))
    assert(due.isEmpty)
    lease.close()
    val (delay, task) = due.head
    clock.now = clock.now.plus(delay.toJava)
    task()
    assert(lease.client.asInstanceOf[Idle].closed === 1)
  }

  test("however often clients are given back, one look at them is to come, and then the next") {
    val clock = new SetClock
    var due = Vector.empty[(FiniteDuration, () => Unit)]
    val pool = new ClientPool(_ => new Idle, clock, (delay, task) => due :+= (delay -> task))
    val lease = pool.borrow(config("a"))
    (1 to 9).foreach(_ => pool.borrow(config("b")).close())
    clock.now = clock.now.plusSeconds(30)
    lease.close()
    assert(due.size === 1)
    clock.now = clock.now.plusSeconds(31)
    due.head._2()
    assert(lease.client.asInstanceOf[Idle].closed === 0 && due.size === 2)
    clock.now = clock.now.plus(due(1)._1.toJava)
    due(1)._2()
    assert(lease.client.asInstanceOf[Idle].closed === 1 && due.size === 2)
  }

  test("a client that was borrowed again in between stays") {
    val clock = new SetClock
    var due = Vector.empty[(FiniteDuration, () => Unit)]
    val pool = new ClientPool(_ => new Idle, clock, (delay, task) => due :+= (delay -> task))
    pool.borrow(config("a")).close()
    val lease = pool.borrow(config("a"))
    clock.now = clock.now.plus(due.head._1.toJava)
    due.head._2()
    assert(lease.client.asInstanceOf[Idle].closed === 0)
  }
}
