package sparkkinesis.simulator.fault

import scala.util.Random

import sparkkinesis.simulator.operation.Operation

/**
 * Faults by rules, which may be added and removed while the service runs. The earliest rule that
 * strikes decides. Safe for use by many threads.
 *
 * @param otherwise faults of calls that no rule strikes
 */
final class ScriptedFaults(otherwise: Faults = Faults.None) extends Faults {
  import ScriptedFaults._

  @volatile private var scripts = Vector.empty[Script]
  private var lastId = 0

  override def apply(operation: Operation[Any]): Option[Fault] =
    if (scripts.isEmpty) otherwise(operation)
    else struck(operation).orElse(otherwise(operation))

  /** @return the id to remove the rule; unique */
  def add(rule: FaultRule): Int = synchronized {
    lastId += 1
    scripts :+= new Script(lastId, rule)
    lastId
  }

  /** @return whether there was such a rule */
  def remove(id: Int): Boolean = synchronized {
    val found = scripts.exists(_.id == id)
    scripts = scripts.filterNot(_.id == id)
    found
  }

  def removeAll(): Unit = synchronized { scripts = Vector.empty }

  /** The active rules, the earliest first. */
  def rules: Seq[ActiveRule] = synchronized {
    scripts.map(script => ActiveRule(script.id, script.rule, script.struck))
  }

  private def struck(operation: Operation[Any]): Option[Fault] = synchronized {
    scripts.find(_.strikes(operation)).map(_.rule.fault)
  }
}

object ScriptedFaults {

  /** A rule and its counts, guarded by the lock of its owner. */
  private final class Script(val id: Int, val rule: FaultRule) {
    private val random = new Random(rule.seed)
    private var matched = 0L
    var struck = 0L

    def strikes(operation: Operation[Any]): Boolean = {
      val isLive = rule.times.forall(struck < _) && rule.matches(operation)
      if (isLive) matched += 1
      val strikes =
        isLive && matched > rule.skip && (rule.rate == 1 || random.nextDouble() < rule.rate)
      if (strikes) struck += 1
      strikes
    }
  }
}

/** @param struck number of strikes so far */
final case class ActiveRule(id: Int, rule: FaultRule, struck: Long)
