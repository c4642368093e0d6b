package sparkkinesis.source.plan

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.model.{SequenceNumber, StreamShard}
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.protocol._

class ReadAheadSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def upTo(number: Int): Progress = Progress.After(SequenceNumber(number.toString))

  private def offsetAt(shards: (Int, Progress)*) = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap.from(shards.map { case (id, progress) =>
        shardId(id) -> ShardProgress(progress, Set.empty)
      })
    )
  )

  private def offsetOf(count: Int, progress: Progress = Progress.TrimHorizon) =
    offsetAt((0 until count).map(_ -> progress): _*)

  private def report(a: Assignment, from: Progress, numbers: Int*) = FetchReport(
    a.shard,
    a.generation,
    from,
    numbers.map(n => Mark(upTo(n), 1, 1, n.toLong)).toVector,
    Nil,
    0,
    0
  )

  /** A driver whose executors are played by the test. */
  private class Driving(shards: Int, executors: String*) {
    val driver = new ReadAheadDriver(10.seconds)
    private var versions = Map.empty[String, Long]
    var plans: Map[String, FetchPlan] = Map.empty

    driver.advance(offsetOf(shards), offsetOf(shards))
    (executors ++ executors).foreach(hear(_))

    def pass(time: FiniteDuration): Unit =
      (1L to (time / ExecutorTable.Tick).toLong).foreach(_ => driver.tick())

    def hear(
        executor: String,
        reports: Seq[FetchReport] = Nil,
        failure: Option[FetchFailure] = None,
        counters: FetchCounters = FetchCounters.Zero
    ): HeartbeatReply = {
      val known = versions.getOrElse(executor, 0L)
      val status =
        Heartbeat(executor, s"host-$executor", reports.toVector, counters, failure, known)
      val reply = driver.answer(status)
      versions += executor -> reply.version
      reply.plan.foreach(plan => plans += executor -> plan)
      reply
    }

    /** The service on the executor closes, and another one begins there. */
    def restart(executor: String): HeartbeatReply = {
      versions -= executor
      hear(executor)
    }

    def assigned(executor: String): Seq[Assignment] = plans(executor).assignments
    def shardsOf(executor: String): Set[StreamShard] = assigned(executor).map(_.shard).toSet
    def of(shard: Int): Assignment =
      plans.values.flatMap(_.assignments).filter(_.shard == shardOf(shard)).maxBy(_.generation)
    def marks(shard: Int): Seq[Progress] =
      driver.frontiers.get(shardOf(shard)).toSeq.flatMap(_.marks.map(_.upTo))
  }

  test("every shard has exactly one executor, and no executor has more than its share") {
    forAll(Gen.choose(0, 20), Gen.choose(1, 6)) { (shards, executors) =>
      val names = (1 to executors).map(n => s"e$n")
      val driving = new Driving(shards, names: _*)
      val all = names.flatMap(driving.shardsOf(_).toSeq)
      assert(all.sorted === (0 until shards).map(shardOf))
      assert(names.forall(driving.shardsOf(_).size <= math.ceil(shards.toDouble / executors)))
    }
  }

  test("a plan names the shards that are listed as closed, and changes only if one is read") {
    val it = new Driving(2, "a")
    def closed = it.plans("a").assignments.filter(_.isClosed).map(_.shard)
    assert(closed.isEmpty)
    val before = it.plans("a").assignments
    it.driver.ahead.foundClosed(Set(shardOf(1), shardOf(9)))
    it.hear("a")
    assert(closed === Seq(shardOf(1)))
    assert(it.plans("a").assignments.map(_.copy(isClosed = false)) === before)
    it.plans = Map.empty
    it.driver.ahead.foundClosed(Set(shardOf(1), shardOf(8)))
    it.hear("a")
    assert(it.plans.isEmpty)
  }

  test("a shard keeps its executor while batches advance") {
    val driving = new Driving(5, "a", "b")
    val before = Seq("a", "b").map(driving.assigned)
    val all = before.flatten
    Seq("a", "b").foreach { e =>
      driving.hear(e, driving.assigned(e).map(report(_, Progress.TrimHorizon, 3, 6)))
    }
    driving.driver.advance(offsetOf(5), offsetOf(5, upTo(3)))
    Seq("a", "b").foreach(driving.hear(_))
    assert(
      driving.plans.values.flatMap(_.assignments).map(_.shard).toSet === all.map(_.shard).toSet
    )
    all.foreach(a =>
      assert(driving.plans.values.exists(_.assignments.exists(_.generation == a.generation)))
    )
    assert(driving.marks(0) === Seq(upTo(6)), "what lies behind the planned end stays")
  }

  test("an executor without a heartbeat for the lease time loses its shards to the others") {
    val driving = new Driving(4, "a", "b")
    val lost = driving.assigned("a")
    driving.pass(9.seconds)
    driving.hear("b")
    driving.pass(1500.millis)
    driving.hear("b")
    driving.hear("b")
    assert(driving.shardsOf("b").size === 4 && driving.driver.executors.live === Set("b"))
    lost.foreach(a =>
      assert(driving.of(0).shard != a.shard || driving.of(0).generation > a.generation)
    )
    lost.foreach(a =>
      assert(driving.assigned("b").find(_.shard == a.shard).get.generation > a.generation)
    )
    driving.hear("a")
    driving.hear("b")
    assert(driving.shardsOf("a").size === 2, "back again, it has its share")
    assert(driving.shardsOf("a").intersect(driving.shardsOf("b")).isEmpty)
  }

  test("the shards of a lost executor go to others at once, from the planned position") {
    val driving = new Driving(2, "a", "b")
    driving.hear("a", driving.assigned("a").map(report(_, Progress.TrimHorizon, 1)))
    driving.driver.lost("a")
    driving.hear("b")
    assert(driving.shardsOf("b").size === 2)
    assert(driving.assigned("b").forall(_.from == Progress.TrimHorizon))
    assert(driving.driver.frontiers.isEmpty, "its pages are gone with it")
    assert(driving.driver.ahead.location(shardOf(0)) === Some("host-b" -> "b"))
  }

  test("if no executor is left, the shards wait for the next one") {
    val driving = new Driving(2, "a")
    driving.driver.lost("a")
    assert(driving.driver.executors.live.isEmpty)
    assert(driving.driver.ahead.location(shardOf(0)).isEmpty)
    driving.hear("c")
    assert(driving.shardsOf("c").size === 2)
  }

  test("a report of an older generation, or of another executor, is ignored") {
    val driving = new Driving(1, "a")
    val old = driving.of(0)
    driving.driver.lost("a")
    driving.hear("b")
    driving.hear("b", Seq(report(old, Progress.TrimHorizon, 1)))
    driving.hear("c", Seq(report(driving.of(0), Progress.TrimHorizon, 2)))
    assert(driving.marks(0) === Nil)
    driving.hear("b", Seq(report(driving.of(0), Progress.TrimHorizon, 3)))
    assert(driving.marks(0) === Seq(upTo(3)))
  }

  test("a repeated report counts once") {
    val driving = new Driving(1, "a")
    val (first, second) =
      (report(driving.of(0), Progress.TrimHorizon, 1, 2), report(driving.of(0), upTo(2), 3))
    driving.hear("a", Seq(first))
    driving.hear("a", Seq(first, second))
    driving.hear("a", Seq(first, second))
    assert(driving.marks(0) === Seq(upTo(1), upTo(2), upTo(3)))
  }

  test("a repeated report whose marks are already planned does not count") {
    val driving = new Driving(1, "a")
    val first = report(driving.of(0), Progress.TrimHorizon, 1, 2)
    driving.hear("a", Seq(first))
    driving.driver.advance(offsetOf(1), offsetOf(1, upTo(2)))
    val before = driving.of(0)
    driving.hear("a", Seq(first, report(before, upTo(2)), report(before, upTo(2), 3)))
    assert(driving.of(0).generation === before.generation && driving.marks(0) === Seq(upTo(3)))
  }

  test("after a gap between reports, the shard is read again from the planned position") {
    val driving = new Driving(1, "a")
    val before = driving.of(0)
    driving.hear("a", Seq(report(before, Progress.TrimHorizon, 1), report(before, upTo(2), 3)))
    driving.hear("a")
    assert(driving.of(0).generation > before.generation && driving.marks(0) === Nil)
    driving.hear("a", Seq(report(driving.of(0), Progress.TrimHorizon, 1, 2, 3)))
    assert(driving.marks(0) === Seq(upTo(1), upTo(2), upTo(3)))
  }

  test("a new service on a known executor reads its shards again, whatever was reported before") {
    val driving = new Driving(2, "a", "b")
    val before = driving.assigned("a").head
    driving.hear("a", Seq(report(before, Progress.TrimHorizon, 1, 2)))
    driving.restart("a")
    val after = driving.assigned("a").head
    assert(after.shard === before.shard && after.from === before.from)
    assert(after.generation > before.generation)
    assert(driving.driver.frontiers.isEmpty, "its pages are gone")
    driving.hear("a", Seq(report(after, Progress.TrimHorizon, 1, 2)))
    assert(driving.driver.frontiers(after.shard).marks.map(_.upTo) === Seq(upTo(1), upTo(2)))
  }

  test("a new service that misses the first answers still gets its shards") {
    val driving = new Driving(2, "a", "b")
    val before = driving.shardsOf("a")
    for (_ <- 1 to 3) driving.restart("a")
    assert(driving.shardsOf("a") === before)
    val last = driving.assigned("a")
    driving.hear("a", last.map(report(_, Progress.TrimHorizon, 1)))
    assert(driving.assigned("a") === last && driving.driver.frontiers.size === 1)
    assert(driving.hear("a").plan.isEmpty)
  }

  test(
    "an executor without a heartbeat for the lease time is not live, even if no other one reports"
  ) {
    val driving = new Driving(2, "a", "b")
    driving.pass(6.seconds)
    driving.hear("b")
    driving.pass(6.seconds)
    assert(driving.driver.executors.live === Set("b"))
    assert(
      (0 to 1).flatMap(n => driving.driver.ahead.location(shardOf(n))).map(_._2).toSet === Set("b")
    )
    driving.pass(6.seconds)
    assert(driving.driver.executors.live.isEmpty)
  }

  test("if nothing but ticks comes, a dead executor loses its shards within eleven seconds") {
    val driving = new Driving(2, "a")
    driving.pass(9.seconds)
    assert(driving.driver.ahead.location(shardOf(0)).map(_._2) === Some("a"))
    driving.pass(2.seconds)
    assert(driving.driver.ahead.location(shardOf(0)) === None)
  }

  test("a new executor gets its share, and the plan of the old one no longer names those shards") {
    val driving = new Driving(4, "a")
    assert(driving.shardsOf("a").size === 4)
    driving.hear("b")
    driving.hear("a")
    val (stayed, moved) = (driving.shardsOf("a"), driving.shardsOf("b"))
    assert(stayed.size === 2 && moved.size === 2 && stayed.intersect(moved).isEmpty)
    assert(
      driving.plans("a").processed.keySet === stayed,
      "neither assigned nor processed: dropped"
    )
  }

  test("shards move to a new executor only when no batch needs their pages") {
    val driving = new Driving(4, "a")
    driving.hear("a", driving.assigned("a").map(report(_, Progress.TrimHorizon, 3, 6)))
    driving.driver.advance(offsetOf(4), offsetOf(4, upTo(3)))
    driving.hear("b")
    driving.hear("a")
    assert(driving.shardsOf("a").size === 4 && driving.shardsOf("b").isEmpty)
    driving.driver.advance(offsetOf(4, upTo(3)), offsetOf(4, upTo(3)))
    driving.hear("a")
    driving.hear("b")
    assert(driving.shardsOf("a").size === 2 && driving.shardsOf("b").size === 2)
  }

  test("of two services on one executor only the newer one reads") {
    val driving = new Driving(2, "a")
    def status(service: String, known: Long) =
      Heartbeat("a", "host", Vector.empty, FetchCounters.Zero, None, known, None, service)
    val known = driving.driver.answer(status("old", 0)).version
    val newer = driving.driver.answer(status("new", 0))
    assert(newer.plan.exists(_.assignments.size == 2) && !newer.isStopped)
    val old = driving.driver.answer(status("old", known))
    assert(old.isStopped && old.plan.isEmpty)
    assert(!driving.driver.answer(status("new", newer.version)).isStopped)
  }

  test("a service that no shard needs ends after a minute, unless it has pages") {
    val driving = new Driving(2, "a", "b", "c", "d")
    val spare = Seq("a", "b", "c", "d").filter(driving.shardsOf(_).isEmpty)
    val holding = FetchCounters.Zero.copy(bufferedBytes = 9)
    def hear(executor: String) =
      driving.hear(executor, counters = if (executor == "c") holding else FetchCounters.Zero)
    def beat(seconds: Int) = (1 to seconds).flatMap { _ =>
      driving.pass(1.second)
      driving.driver.executors.live.toSeq.sorted.filter(hear(_).isStopped)
    }
    assert(spare === Seq("c", "d") && beat(59).isEmpty && beat(2) === Seq("d"))
    assert(driving.driver.executors.live === Set("a", "b", "c"))
    assert(!driving.restart("d").isStopped && beat(50).isEmpty, "a task may start another one")
  }

  test("services that are fewer than the shards stay, also if one has no shard yet") {
    val driving = new Driving(6, "a", "b", "c", "d")
    driving.restart("e")
    (1 to 200).foreach { _ =>
      driving.pass(1.second)
      assert(!driving.driver.executors.live.exists(driving.hear(_).isStopped))
    }
  }

  test("the plan tells executors to drop pages up to the start of the batch") {
    val driving = new Driving(1, "a")
    driving.hear("a", Seq(report(driving.of(0), Progress.TrimHorizon, 3)))
    driving.driver.advance(offsetOf(1), offsetOf(1, upTo(3)))
    driving.hear("a")
    assert(driving.plans("a").processed === Map(shardOf(0) -> Progress.TrimHorizon))
    driving.driver.advance(offsetOf(1, upTo(3)), offsetOf(1, upTo(3)))
    driving.hear("a")
    assert(driving.plans("a").processed === Map(shardOf(0) -> upTo(3)))
  }

  test("the pages of a finished shard stay until its batch is done") {
    val driving = new Driving(1, "a")
    val ended = offsetAt(0 -> Progress.Finished, 1 -> Progress.TrimHorizon)
    driving.driver.advance(offsetOf(1), ended)
    driving.hear("a")
    assert(driving.shardsOf("a") === Set(shardOf(1)))
    assert(driving.plans("a").processed(shardOf(0)) === Progress.TrimHorizon)
    val next = offsetAt(1 -> Progress.TrimHorizon)
    driving.driver.advance(ended, next)
    driving.hear("a")
    assert(driving.plans("a").processed(shardOf(0)) === Progress.Finished)
    driving.driver.advance(next, next)
    driving.hear("a")
    assert(
      driving.plans("a").processed.keySet === Set(shardOf(1)),
      "the plan no longer names the finished shard"
    )
  }

  test("if the end of an earlier run is no mark, the shard is read again from that end") {
    val driving = new Driving(1, "a")
    val before = driving.of(0)
    driving.hear("a", Seq(report(before, Progress.TrimHorizon, 3)))
    driving.driver.advance(offsetOf(1), offsetOf(1, upTo(2)))
    driving.hear("a")
    assert(driving.of(0) === Assignment(shardOf(0), driving.of(0).generation, upTo(2)))
    assert(driving.of(0).generation > before.generation && driving.marks(0) === Nil)
  }

  test("a plan is sent only if it has changed") {
    val driving = new Driving(1, "a")
    assert(driving.hear("a").plan.isEmpty)
    driving.driver.advance(offsetOf(1), offsetOf(1))
    assert(driving.hear("a").plan.isEmpty)
    driving.driver.advance(offsetOf(1), offsetOf(1, upTo(1)))
    assert(driving.hear("a").plan.nonEmpty)
  }

  test("each executor receives stop, and the driver knows which ones have") {
    val driving = new Driving(2, "a", "b")
    driving.driver.stop()
    assert(driving.hear("a").isStopped)
    assert(!driving.driver.executors.allKnowOfStop)
    assert(driving.hear("b").isStopped)
    assert(driving.driver.executors.allKnowOfStop)
  }

  test(
    "the first look ends when all shards were read, or one has records"
  ) {
    def looked(prepare: Driving => Unit) = {
      val driving = new Driving(2, "a")
      prepare(driving)
      driving.driver.ahead.hasFirstLook(ofAll = false)
    }
    assert(!looked(_ => ()))
    assert(!looked(d => d.hear("a", Seq(report(d.of(0), Progress.TrimHorizon))): Unit))
    assert(looked(d => d.hear("a", Seq(report(d.of(1), Progress.TrimHorizon, 1))): Unit))
    assert(looked { d =>
      d.hear("a", d.assigned("a").map(report(_, Progress.TrimHorizon))): Unit
    })
  }

  private def failure(condition: String, a: Assignment) =
    FetchFailure(condition, "m", a.shard, a.generation)

  test("the first failure is kept, and the counters of the executors are added up") {
    val driving = new Driving(2, "a", "b")
    Seq("a" -> "FIRST", "b" -> "SECOND").zip(1L to 2L).foreach { case ((executor, condition), n) =>
      driving.hear(
        executor,
        failure = Some(failure(condition, driving.assigned(executor).head)),
        counters = FetchCounters(n, 2, 3, 4, 5, 6)
      )
    }
    assert(driving.driver.executors.failure.map(_.condition) === Some("FIRST"))
    assert(driving.driver.counters === FetchCounters(3, 4, 6, 8, 10, 12))
  }

  test("the counters of a lost executor stay in the sum, except for its buffer") {
    val driving = new Driving(2, "a", "b")
    Seq("a", "b").foreach(driving.hear(_, counters = FetchCounters(1, 2, 3, 4, 5, 6)))
    driving.driver.lost("a")
    assert(driving.driver.counters === FetchCounters(2, 4, 3, 8, 10, 12))
    driving.hear("a", counters = FetchCounters(2, 2, 3, 4, 5, 6))
    assert(driving.driver.counters.records === 3, "it was only silent")
  }

  test("a range has its marks only if all of them are known") {
    val driving = new Driving(1, "a")
    driving.hear("a", Seq(report(driving.of(0), Progress.TrimHorizon, 1, 2, 3)))
    def marks(from: Progress, end: Int) =
      driving.driver.ahead.located(Vector(ShardRange(shardOf(0), from, upTo(end)))).head.marks.size
    assert(marks(Progress.TrimHorizon, 2) === 2)
    assert(marks(Progress.TrimHorizon, 4) === 0, "its end is not known")
    assert(marks(upTo(1), 2) === 0, "reading ahead began elsewhere")
  }

  test("a failure of a shard that was assigned to another executor or again is ignored") {
    val driving = new Driving(1, "a")
    val before = driving.of(0)
    driving.driver.lost("a")
    driving.hear("b")
    val older = driving.of(0)
    driving.restart("b")
    driving.hear("b", failure = Some(failure("STALE", older)))
    driving.hear("a", failure = Some(failure("STALE", before)))
    assert(driving.driver.executors.failure === None)
    driving.hear("b", failure = Some(failure("TRUE", driving.assigned("b").head)))
    assert(driving.driver.executors.failure.map(_.condition) === Some("TRUE"))
  }

  test("a query with very many shards has few marks of each, and its executors know their number") {
    val driving = new Driving(5000, "a")
    assert(driving.plans("a").shards === 5000)
    val (assigned, last) = (driving.of(7), 300)
    val reports = (1 to last).map { number =>
      val from = if (number == 1) Progress.TrimHorizon else upTo(number - 1)
      report(assigned, from, number)
    }
    driving.hear("a", reports)
    assert(driving.marks(7).size <= 40 && driving.marks(7).last === upTo(last))
  }

  test("pages that arrive while a batch is planned do not hide its end") {
    val driving = new Driving(1, "a")
    val assigned = driving.of(0)
    driving.hear("a", Seq(report(assigned, Progress.TrimHorizon, 1 to 9: _*)))
    val end = offsetOf(1, upTo(5))
    driving.driver.ahead.foundEnd(end)
    driving.hear("a", (10 to 400).map(number => report(assigned, upTo(number - 1), number)))
    assert(driving.marks(0).size <= 256)
    driving.driver.advance(offsetOf(1), end)
    driving.hear("a")
    assert(driving.of(0).generation === assigned.generation && driving.marks(0).nonEmpty)
  }
}
