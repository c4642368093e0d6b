package sparkkinesis.simulator.http.admin

import scala.concurrent.duration._
import scala.util.Random

import com.fasterxml.jackson.core.JsonGenerator

import sparkkinesis.model.{ShardId, StreamName}
import sparkkinesis.simulator.fault.{ActiveRule, Fault, FaultRule}
import sparkkinesis.simulator.http.action.Actions
import sparkkinesis.simulator.state.Identifier

/** Fault rules in JSON. */
private[http] object FaultScript {
  private val MaxStallSeconds = 3600

  /** Operations whose request names one shard. */
  private val OfShards =
    Seq("GetRecords", "GetShardIterator", "MergeShards", "SplitShard", "SubscribeToShard")

  private val Names =
    (Fault.simple.map(_.name) ++ Seq(Fault.Stalled.Name, Fault.PartialPut.Name)).sorted

  private val Members =
    Seq("fault", "operation", "stream", "shard", "times", "rate", "skip", "seed", "seconds")

  /** Throws [[BadAdminRequest]]. */
  def rule(m: AdminMembers): FaultRule = {
    m.allowOnly(Members)
    val seed = m.whole("seed", Long.MinValue, Long.MaxValue).getOrElse(0L)
    val what = fault(m, seed)
    FaultRule(
      what,
      m.text("operation").map(operation(_, what, m)),
      m.text("stream").map { name =>
        StreamName.parse(name).getOrElse(throw m.unfit("stream", name, "the name of a stream"))
      },
      m.text("shard").map(shard(_, m)),
      m.whole("times", 1, Int.MaxValue).map(_.toInt),
      m.number("rate", 0, 1).getOrElse(1),
      m.whole("skip", 0, Int.MaxValue).fold(0)(_.toInt),
      seed
    )
  }

  /** Writes the rule with its defaults and its number of strikes. */
  def write(out: JsonGenerator, active: ActiveRule): Unit = {
    val rule = active.rule
    out.writeStartObject()
    out.writeNumberField("id", active.id)
    out.writeStringField("fault", rule.fault.name)
    rule.operation.foreach(out.writeStringField("operation", _))
    rule.stream.foreach(name => out.writeStringField("stream", name.name))
    rule.shard.foreach(id => out.writeStringField("shard", id.name))
    rule.times.foreach(out.writeNumberField("times", _))
    out.writeNumberField("rate", rule.rate)
    out.writeNumberField("skip", rule.skip)
    out.writeNumberField("seed", rule.seed)
    rule.fault match {
      case Fault.Stalled(time) => out.writeNumberField("seconds", time.toMillis / 1000.0)
      case _ => ()
    }
    out.writeNumberField("struck", active.struck)
    out.writeEndObject()
  }

  private def fault(m: AdminMembers, seed: Long): Fault = {
    val name = m.text("fault").getOrElse(throw m.missing("fault", oneOf(Names)))
    val seconds = m.number("seconds", 0, MaxStallSeconds)
    if (seconds.nonEmpty && name != Fault.Stalled.Name)
      throw new BadAdminRequest(s"Member 'seconds' is for the fault stall, not for $name.")
    name match {
      case Fault.Stalled.Name =>
        val needed = seconds.getOrElse(throw m.missing("seconds", s"0 to $MaxStallSeconds"))
        Fault.Stalled((needed * 1000).round.millis)
      case Fault.PartialPut.Name => Fault.PartialPut.half(new Random(seed))
      case _ =>
        Fault.simple.find(_.name == name).getOrElse(throw m.unfit("fault", name, oneOf(Names)))
    }
  }

  private def operation(name: String, fault: Fault, m: AdminMembers): String = {
    val fitting =
      if (fault.operations.isEmpty) Actions.byName.keys.toSeq.sorted else fault.operations
    if (fitting.contains(name)) name else throw m.unfit("operation", name, oneOf(fitting))
  }

  private def shard(id: String, m: AdminMembers): ShardId = {
    if (!Identifier.fits(id)) throw m.unfit("shard", id, "the id of a shard")
    m.text("operation").filterNot(OfShards.contains).foreach { operation =>
      throw new BadAdminRequest(
        s"Member 'shard' is for calls that name a shard (${OfShards.mkString(", ")}), and " +
          s"$operation names none."
      )
    }
    ShardId(id)
  }

  private def oneOf(names: Seq[String]): String = names.mkString("one of ", ", ", "")
}
