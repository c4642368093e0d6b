package sparkkinesis.sink.simulation

import scala.concurrent.duration._
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model._
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.Settings
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.lane.{Request, RequestLimits}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.{Slow, TestScope}

/**
 * A small server without quotas writes 600 records per second, one request after the other. A
 * request that is not answered in time is given up, but the server does its work.
 */
class SlowServerSuite extends AnyFunSuite {
  private val patience = SinkOptions().requestTimeout.toMillis

  private final class World {
    private val random = new Random(1)
    private val agenda = new Agenda
    private val kinesis = new SimulatedKinesis(agenda.clock, Settings())
    private val stream = StreamRef.ByName(StreamName("orders"))
    kinesis.createStream(stream.name, 16)
    private def newTarget(executors: Int) = new TargetStream(
      stream,
      kinesis,
      ServiceLimits.RecordBytes,
      None,
      executors,
      agenda.clock
    )
    private var idleAt = 0L
    var (unanswered, givenUp, written, ended) = (0, 0, 0, 0)
    var longest = 0L

    private object Server extends Wire {
      override def put(to: TargetStream, request: Request)(
          answered: Either[KinesisException, Seq[PutResult]] => Unit
      ): Unit = {
        val sentAt = agenda.now
        idleAt = math.max(idleAt, sentAt) + request.records.length * 1000L / 600
        longest = math.max(longest, idleAt - sentAt)
        if (idleAt - sentAt > patience) {
          unanswered += 1
          givenUp += request.records.length
          agenda.after(patience)(answered(Left(new KinesisException.Unreachable("No answer."))))
        } else
          agenda.at(idleAt) {
            written += request.records.length
            answered(Right(kinesis.putRecords(to.ref, request.entries)))
          }
      }

      override def list(to: TargetStream, stale: ShardMap)(
          answered: Either[KinesisException, ShardMap] => Unit
      ): Unit = agenda.after(5)(answered(Right(to.shardsAfter(stale))))
    }

    /** Runs tasks until all records are written. Returns how long that took, in seconds. */
    def run(executors: Int, tasks: Int, rowsOfTask: Int): Double = {
      val targets = Vector.fill(executors)(newTarget(executors))
      (1 to tasks).foreach { n =>
        val target = targets(n % executors)
        val rows = Iterator
          .tabulate(rowsOfTask)(n => target -> PutEntry(s"key-$n", new Array[Byte](100), None))
        new SimulatedWriter(
          agenda,
          Server,
          RequestLimits.of(SinkOptions()),
          SinkOptions(),
          None,
          random,
          rows,
          () => 0L,
          failure => {
            require(failure.isEmpty, s"a task failed: $failure")
            ended += 1
          }
        ).run()
      }
      agenda.run(30.minutes)
      agenda.elapsed / 1000.0
    }
  }

  Seq(1, 4).foreach { tasks =>
    test(s"$tasks tasks: no request times out, and each row is written once") {
      val world = new World
      val rowsOfTask = 15000
      world.run(executors = 1, tasks, rowsOfTask)
      info(f"longest answer ${world.longest / 1000.0}%.1f s, ${world.unanswered} without an answer")
      assert(world.ended === tasks && world.written === tasks * rowsOfTask)
      assert(world.unanswered === 0 && world.longest < patience)
    }
  }

  private val largest = if (TestScope.isCi) Seq(32 -> 32) else Seq(32 -> 1, 32 -> 32)

  for ((tasks, executors) <- Seq(16 -> 1, 16 -> 16) ++ largest)
    test(
      s"$tasks tasks on $executors executors: the write ends, and few rows are sent again",
      (if (tasks > 16) Seq(Slow) else Nil): _*
    ) {
      val world = new World
      val rowsOfTask = 6000
      val rows = tasks * rowsOfTask
      val seconds = world.run(executors, tasks, rowsOfTask)
      val repeated = world.givenUp.toDouble / rows
      info(f"$seconds%.0f s, ${repeated * 100}%.1f %% of the rows were sent again")
      assert(world.ended === tasks && world.written === rows)
      assert(repeated <= (if (executors == 1) 0 else 0.15))
    }
}
