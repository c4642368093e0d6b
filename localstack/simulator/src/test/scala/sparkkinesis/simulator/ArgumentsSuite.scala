package sparkkinesis.simulator

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.StatePropertySuite.{Arn, Start}
import sparkkinesis.simulator.state.{Behaviour, Settings, WriteQuota}

final class ArgumentsSuite extends AnyFunSuite {
  private def isTimeSimulated(args: String*) =
    Arguments.parse(args.toList).map(_.isTimeSimulated)

  test("the clock is the system's or a simulated one, and other values are refused") {
    assert(isTimeSimulated() === Right(false))
    assert(isTimeSimulated("--clock", "system") === Right(false))
    assert(isTimeSimulated("--clock", "simulated") === Right(true))
    assert(isTimeSimulated("--clock", "sundial").left.exists(_.contains("--clock sundial")))
  }

  test("the options set how long a stream takes to change, and room for 20 or 50 consumers") {
    def of(args: String*) = Arguments.parse(args.toList).map(a => (a.changeTime, a.consumerLimit))
    assert(of() === Right((Duration.Zero, 20)))
    assert(of("--change-time", "500ms", "--consumer-limit", "50") === Right((500.millis, 50)))
    Seq("--change-time" -> "500", "--consumer-limit" -> "21").foreach { case (option, value) =>
      assert(of(option, value).left.exists(_.contains(s"$option $value")))
    }
  }

  test("the quotas are off, those of AWS, or count writes in another way") {
    def of(args: String*) = Arguments.parse(args.toList).map(_.quotas)
    assert(of() === Right(None) && of("--quotas", "off") === Right(None))
    WriteQuota.all.foreach(it => assert(of("--quotas", it.name) === Right(Some(it))))
    assert(of("--quotas", "on").left.exists(_.contains("--quotas on")))
  }

  test("what AWS does is off, and each of it has an option") {
    def of(args: String*) = Arguments.parse(args.toList).map(_.behaviour)
    assert(of() === Right(Behaviour()))
    val args = Behaviour.settings.flatMap(it => Seq(s"--${it.name}", it.example))
    val expected = Behaviour.settings.foldLeft(Behaviour()) { (all, it) =>
      Behaviour.changed(all, it.name, it.example).get
    }
    assert(of(args: _*) === Right(expected))
    Behaviour.settings.foreach { it =>
      assert(Arguments.Usage.linesIterator.exists(_.startsWith(s"  --${it.name} ${it.example} ")))
    }
    Seq("--empty-pages" -> "2", "--visibility-delay" -> "1", "--seed" -> "x").foreach {
      case (option, value) => assert(of(option, value).left.exists(_.contains(s"$option $value")))
    }
  }

  test("a stream that exists with another number of shards stays unchanged, with a warning") {
    val kinesis = new SimulatedKinesis(new SimulatedClock(Start), Settings(quotas = true))
    def prepare(shards: Int, isKept: Boolean = true) = Main.prepare(kinesis, Arn, shards, isKept)
    assert(prepare(2) === Right(None) && prepare(2) === Right(None))
    (1 to 30).foreach(_ =>
      assert(prepare(3).exists(_.exists(_.contains("restored with 2 open shards"))))
    )
    assert(kinesis.statistics.snapshot.calls.isEmpty)
    assert(prepare(2, isKept = false).left.exists(_.contains("ResourceInUseException")))
  }
}
