package sparkkinesis.source.realtime

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol._
import sparkkinesis.source.realtime.RealTimeShards.Task

class RealTimeShardsSuite extends AnyFunSuite {
  private val horizon = Progress.TrimHorizon

  private def upTo(number: Int): Progress = Progress.After(SequenceNumber(s"$number"))

  private def start(shard: Int, from: Progress = horizon) =
    RealTimeStart(shardOf(shard), from, None, None)

  private class Reads {
    val clock = new ScriptedClock
    val shards = new RealTimeShards(clock)

    def assignments: Map[Int, Assignment] = {
      val (_, plan) = shards.plan(knownVersion = 0)
      plan.get.assignments.map(it => it.shard.shard.name.takeRight(3).toInt -> it).toMap
    }

    def generation(shard: Int): Long = assignments(shard).generation

    def begin(starts: RealTimeStart*): Task = beginIn(1)(starts: _*)

    def beginIn(batch: Long, attempt: Long = 0)(starts: RealTimeStart*): Task = {
      val task = new Task(batch, attempt)
      assert(shards.begin(task, starts))
      task
    }

    def page(shard: Int, last: Int): FetchReport = {
      val marks = Vector(Mark(upTo(last), 1, 1, last.toLong, last.toLong))
      FetchReport(shardOf(shard), generation(shard), horizon, marks, Nil, 7, last.toLong)
    }

    def arrive(shard: Int, last: Int): FetchReport = {
      val report = page(shard, last)
      shards.report(report)
      report
    }

    def next(task: Task): Option[FetchReport] = shards.next(task, clock.elapsedMillis)

    def release(task: Task, positions: (Int, Progress)*): Unit =
      shards.release(task, positions.map { case (shard, at) => shardOf(shard) -> at }.toMap)
  }

  test("a task that begins where the last one ended continues, without another generation") {
    val reads = new Reads
    val first = reads.begin(start(0))
    val generation = reads.generation(0)
    val one = reads.arrive(0, 1)
    assert(reads.next(first) === Some(one))
    reads.release(first, 0 -> upTo(1))
    val two = reads.arrive(0, 2)
    val second = reads.begin(start(0, upTo(1)))
    assert(reads.generation(0) === generation && reads.next(second) === Some(two))
  }

  test("a task that begins elsewhere reads the shard again, without the pages of before") {
    val reads = new Reads
    val first = reads.begin(start(0))
    val old = reads.arrive(0, 1)
    reads.release(first, 0 -> upTo(1))
    val (version, _) = reads.shards.plan(0)
    val second = reads.begin(start(0))
    assert(reads.generation(0) > old.generation && reads.shards.plan(0)._1 > version)
    assert(reads.assignments(0).from === horizon && reads.next(second) === None)
    reads.shards.report(old)
    assert(reads.next(second) === None, "a report of the generation before")
    assert(reads.shards.states(shardOf(0)).reports === 0)
  }

  test("a shard that is not given back is read again: its position lacks the pages taken") {
    val reads = new Reads
    val first = reads.begin(start(0))
    reads.arrive(0, 1)
    assert(reads.next(first).nonEmpty)
    val generation = reads.generation(0)
    reads.begin(start(0))
    assert(reads.generation(0) > generation)
  }

  test("a page that is read in part goes to the next task, before the pages after it") {
    val reads = new Reads
    val first = reads.begin(start(0), start(1))
    val one = reads.arrive(0, 2)
    val two = reads.arrive(0, 3)
    assert(reads.next(first) === Some(one))
    reads.release(first, 0 -> upTo(1), 1 -> horizon)
    val second = reads.begin(start(0, upTo(1)), start(1))
    assert(Seq.fill(3)(reads.next(second)) === Seq(Some(one), Some(two), None))
  }

  test("each shard is in order, and the shards take turns") {
    val reads = new Reads
    val task = reads.begin(start(0), start(1), start(2))
    for (page <- 1 to 4) reads.arrive(0, page)
    for (page <- 1 to 2) reads.arrive(1, page)
    reads.arrive(2, 1)
    val taken = Iterator.continually(reads.next(task)).takeWhile(_.nonEmpty).flatten.toVector
    def pages(shard: Int) = taken.filter(_.shard == shardOf(shard)).map(_.marks.last.upTo)
    assert(pages(0) === (1 to 4).map(upTo) && pages(1) === (1 to 2).map(upTo))
    assert(taken.take(3).map(_.shard).toSet.size === 3)
    assert(taken.slice(3, 5).map(_.shard).toSet === Set(shardOf(0), shardOf(1)))
  }

  test("a task waits until its deadline, or until a page arrives") {
    val reads = new Reads
    val task = reads.begin(start(0))
    assert(reads.shards.next(task, deadline = 300) === None)
    assert(reads.clock.elapsedMillis === 300)
    reads.clock.at(400)(reads.shards.report(reads.page(0, 1).copy(marks = Vector.empty)))
    reads.clock.at(450)(reads.arrive(0, 1): Unit)
    assert(reads.shards.next(task, deadline = 900).map(_.marks.last.upTo) === Some(upTo(1)))
    assert(reads.clock.elapsedMillis === 450)
  }

  test("an ended batch gives no more pages, and the next one gives them") {
    val reads = new Reads
    val task = reads.beginIn(2)(start(0))
    reads.clock.at(100)(reads.shards.end(2))
    assert(reads.shards.next(task, deadline = 900) === None)
    assert(reads.clock.elapsedMillis === 100)
    val page = reads.arrive(0, 1)
    assert(reads.next(task) === None)
    reads.shards.end(1)
    assert(reads.shards.isEnded(2) && !reads.shards.isEnded(3), "an older end changes nothing")
    reads.release(task, 0 -> horizon)
    assert(reads.next(reads.beginIn(3)(start(0))) === Some(page))
  }

  test("a task fails when another one takes over one of its shards") {
    val reads = new Reads
    val old = reads.begin(start(0), start(1))
    val other = reads.begin(start(1))
    val error = intercept[IllegalStateException](reads.next(old))
    assert(error.getMessage === "A newer task reads the shards of this task.")
    assert(reads.next(other) === None)
    reads.release(old, 0 -> horizon, 1 -> upTo(9))
    val page = reads.arrive(1, 1)
    assert(reads.next(other) === Some(page), "the old task gives back only its own shards")
  }

  test("an older task does not take a shard from a newer one") {
    val reads = new Reads
    val task = reads.beginIn(2, attempt = 5)(start(0))
    intercept[IllegalStateException](reads.beginIn(1, attempt = 9)(start(0)))
    intercept[IllegalStateException](reads.beginIn(2, attempt = 4)(start(1), start(0)))
    assert(reads.assignments.keySet === Set(0), "it takes no other shard either")
    val page = reads.arrive(0, 1)
    assert(reads.next(task) === Some(page))
  }

  test("shards take turns also in a later batch") {
    val reads = new Reads
    val first = reads.begin(start(0))
    for (page <- 1 to 5) {
      reads.arrive(0, page)
      reads.next(first)
    }
    reads.release(first, 0 -> upTo(5))
    val second = reads.beginIn(2)(start(0, upTo(5)), start(1))
    for (page <- 6 to 8) reads.arrive(0, page)
    for (page <- 1 to 3) reads.arrive(1, page)
    val taken = Seq.fill(6)(reads.next(second)).flatten
    assert(taken.grouped(2).forall(_.map(_.shard).toSet.size == 2))
  }

  test("a page that a task took and did not hand out is there for the next one") {
    val reads = new Reads
    val first = reads.begin(start(0))
    val page = reads.arrive(0, 1)
    reads.next(first)
    reads.release(first, 0 -> horizon)
    assert(!reads.shards.state(shardOf(0)).get._2)
    assert(reads.next(reads.beginIn(2)(start(0))) === Some(page))
  }

  test("shards that another executor reads are given up, unless a task reads them here") {
    val reads = new Reads
    reads.begin(start(0))
    val task = reads.begin(start(1))
    reads.release(task, 1 -> horizon)
    reads.shards.giveUp(Set(shardOf(0), shardOf(1), shardOf(2)))
    assert(reads.assignments.keySet === Set(0))
  }

  test("pages that were lost are read again from the position, by the task that has the shard") {
    val reads = new Reads
    val task = reads.begin(start(0))
    val generation = reads.generation(0)
    reads.arrive(0, 5)
    reads.shards.restart(new Task(1, 0), start(0, upTo(3)))
    assert(reads.generation(0) === generation, "not by another task")
    reads.shards.restart(task, start(0, upTo(3)))
    assert(reads.generation(0) > generation && reads.assignments(0).from === upTo(3))
    assert(reads.next(task) === None)
  }

  test("the state of a shard counts its pages, and says whether they are taken") {
    val reads = new Reads
    val task = reads.begin(start(0))
    assert(reads.shards.state(shardOf(1)) === None)
    reads.arrive(0, 20)
    reads.shards.report(reads.page(0, 10).copy(marks = Vector.empty, millisBehindLatest = 0))
    assert(
      reads.shards.state(shardOf(0)) === Some(
        RealTimeShardState(0, 20, 2, isActive = true, Some(20)) -> false
      )
    )
    reads.next(task)
    assert(reads.shards.state(shardOf(0)).map(_._2) === Some(true))
  }

  test("a page waits until the task has handed it out, which is when it asks for the next one") {
    val reads = new Reads
    def since = reads.shards.states.toSeq.sortBy(_._1).map(_._2.waitingSinceMillis)
    val first = reads.begin(start(0), start(1))
    Seq(10, 20).foreach(reads.arrive(0, _))
    reads.arrive(1, 15)
    assert(since === Seq(Some(10), Some(15)))
    reads.next(first)
    assert(since === Seq(Some(10), Some(15)), "the task hands it out")
    reads.next(first)
    assert(since === Seq(Some(20), Some(15)))
    reads.release(first, 0 -> upTo(10), 1 -> horizon)
    assert(since === Seq(Some(20), Some(15)), "the task has ended within the page")
    val second = reads.begin(start(0, upTo(10)), start(1))
    (1 to 3).foreach(_ => reads.next(second))
    assert(since === Seq(None, None))
  }

  test("a shard that no task reads goes after 10 s, and the service is unused after 60 s") {
    val reads = new Reads
    val kept = reads.begin(start(0))
    val task = reads.begin(start(1))
    reads.release(task, 1 -> horizon)
    reads.clock.pass(10.seconds)
    reads.shards.tick()
    assert(reads.assignments.keySet === Set(0, 1))
    val (version, _) = reads.shards.plan(0)
    reads.clock.pass(1.milli)
    reads.shards.tick()
    assert(reads.assignments.keySet === Set(0) && reads.shards.plan(0)._1 > version)
    reads.clock.pass(1.hour)
    reads.shards.tick()
    assert(!reads.shards.closeIfUnused(), "a task reads a shard")
    reads.release(kept, 0 -> horizon)
    reads.clock.pass(11.seconds)
    reads.shards.tick()
    assert(reads.assignments.isEmpty && !reads.shards.closeIfUnused())
    reads.clock.pass(49.seconds)
    assert(!reads.shards.closeIfUnused())
    reads.clock.pass(1.milli)
    assert(reads.shards.closeIfUnused() && reads.shards.hasClosed)
    assert(!reads.shards.begin(new Task(2, 0), Seq(start(0))))
  }

  test("only a new version has a plan") {
    val reads = new Reads
    reads.begin(start(0), start(1))
    val (version, plan) = reads.shards.plan(0)
    assert(plan.map(_.shards) === Some(2) && reads.shards.plan(version) === (version -> None))
  }

  test("a finished shard is reported with its children until it is read from elsewhere") {
    val reads = new Reads
    val task = reads.begin(start(0), start(1))
    reads.shards.finished(new Task(1, 0), shardOf(1), Nil)
    reads.shards.finished(task, shardOf(0), Nil)
    reads.shards.finished(task, shardOf(9), Nil)
    assert(reads.shards.ended === Map(shardOf(0) -> FinishedShard(1, Nil)))
    reads.release(task, 0 -> Progress.Finished, 1 -> horizon)
    reads.begin(start(0, upTo(1)))
    assert(reads.shards.ended.isEmpty)
  }
}
