package sparkkinesis.source.watch

import scala.annotation.tailrec

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{Shard, ShardId}

/** Uses seeded streams that are split and merged at random, and a query that follows them. */
class ShardAuditSuite extends AnyFunSuite {
  private def each(count: Int)(check: StreamLife => Any): Unit = (1 to count).foreach { seed =>
    withClue(s"seed $seed: ")(check(new StreamLife(seed.toLong)))
  }

  /** Findings that count: the service confirms that each unlisted shard is gone. */
  private def found(life: StreamLife, listed: Seq[Shard], retention: Int): Option[AuditFindings] =
    ShardAudit
      .of(life.offset, listed)
      .filter(_ => ShardAudit.unlisted(life.offset, listed).forall(life.isGone(_, retention)))

  test(
    "a query that reads every shard has no finding, for any outdated or trimmed listing"
  ) {
    var (judged, all) = (0, 0)
    each(1000) { life =>
      for (_ <- 0 until 20) {
        life.actAtRandom()
        val behind =
          life.offset.settled.shards.keys.map(id => life.listing().indexWhere(_.id == id))
        val lag = life.random.nextInt(12)
        val listed =
          life.listing(math.max(0, life.time - lag)).drop(life.random.nextInt(behind.min + 1))
        val verdict = found(life, listed, 1000)
        assert(verdict.forall(_.isEmpty), s"$verdict of ${life.offset} in $listed")
        all += 1
        judged += verdict.size
      }
    }
    assert(judged > all / 4, "many listings allow a judgement")
  }

  test("an inconsistent listing causes no finding: missing shards, children of an open parent") {
    each(1000) { life =>
      for (_ <- 0 until 20) {
        life.actAtRandom()
        val whole = life.listing(math.max(0, life.time - life.random.nextInt(4)))
        val listed = whole.flatMap { shard =>
          life.random.nextInt(8) match {
            case 0 => None
            case 1 => Some(shard.copy(last = None))
            case _ => Some(shard)
          }
        }
        val verdict = found(life, listed, 1000)
        assert(verdict.forall(_.isEmpty), s"$verdict of ${life.offset} in $listed")
      }
    }
  }

  test("without findings the offset's shards and their descendants own every hash key") {
    each(500) { life =>
      for (_ <- 0 until 30) life.actAtRandom()
      val listed = life.listing()
      assert(ShardAudit.of(life.offset, listed).exists(_.isEmpty))
      val shards = life.offset.settled.shards.keySet
      val after = listed.foldLeft(shards.toSet) { (known, shard) =>
        if (shard.parents.exists(known)) known + shard.id else known
      }
      val owned = listed.filter(shard => shard.isOpen && after(shard.id)).map(_.hashKeys)
      assert(owned.map(range => range.last.value - range.first.value + 1).sum === BigInt(1) << 128)
    }
  }

  test("a shard that is lost from the offset is found and read from its trim horizon") {
    var lost = 0
    each(1000) { life =>
      for (_ <- 0 until 30) life.actAtRandom()
      val shards = life.offset.settled.shards
      val (id, shard) = shards.toVector(life.random.nextInt(shards.size))
      if (shard.waitsFor.isEmpty && shards.size > 1) {
        lost += 1
        val without = life.offset.settled.copy(shards = shards - id)
        val verdict = ShardAudit.of(without, life.listing()).getOrElse(AuditFindings.None)
        assert(!verdict.isEmpty, s"$id in $without")
        val again = verdict.repair(without)
        assert(ShardAudit.of(again, life.listing()).exists(_.isEmpty), s"$again")
        val line = ancestors(life, id) + id
        assert(again.readable.exists { case (root, at) =>
          line(root) && at == Progress.TrimHorizon
        })
      }
    }
    assert(lost > 300)
  }

  /** Reads to the end and repairs findings, as with `failOnDataLoss` set to `false`. */
  @tailrec private def readOn(life: StreamLife, retention: Int, repairs: Int): Int =
    if (life.read(retention)) readOn(life, retention, repairs)
    else
      found(life, life.listing(retention = retention), retention).filterNot(_.isEmpty) match {
        case Some(verdict) =>
          assert(repairs < 100, s"repaired forever: $verdict")
          life.offset = verdict.repair(life.offset.settled)
          readOn(life, retention, repairs + 1)
        case None => repairs
      }

  test("after a stop over expired reshards, each remaining shard is read once, parents first") {
    var repairs = 0
    each(2000) { life =>
      for (_ <- 0 until life.random.nextInt(30)) life.actAtRandom()
      for (_ <- 0 until life.random.nextInt(30)) life.reshard()
      val retention = life.random.nextInt(6)
      val listed =
        life.listing(retention = retention).filterNot(shard => life.done.contains(shard.id))
      repairs += readOn(life, retention, 0)
      assert(life.done.distinct === life.done, "some shard twice")
      assert(listed.filterNot(_.isOpen).map(_.id).diff(life.done).isEmpty, "left out")
      assert(listed.filter(_.isOpen).forall(shard => life.offset.readable.contains(shard.id)))
      val order = life.done.zipWithIndex.toMap
      for (id <- life.done; parent <- life.parents(id); before <- order.get(parent))
        assert(before < order(id), s"$id before its parent $parent")
    }
    assert(repairs > 500)
  }

  private def ancestors(life: StreamLife, id: ShardId): Set[ShardId] =
    life.parents(id).flatMap(parent => ancestors(life, parent) + parent).toSet

  test("the intersection of two audits has the findings of both") {
    val three = newStream(3)
    val (a, b, c) = (three(0), three(1), three(2))
    val (e, f) = (shardId(8), shardId(9))
    def blocked(shard: Shard, parents: ShardId*) = parents.map(BlockedShard(shard.id, _))
    val one = AuditFindings(Seq(a, b), blocked(a, e, f) ++ blocked(b, e))
    val other = AuditFindings(Seq(b, c), blocked(a, f) ++ blocked(c, e))
    assert(one.intersect(other) === AuditFindings(Seq(b), blocked(a, f)))
    assert(one.intersect(AuditFindings.None).isEmpty)
  }
}
