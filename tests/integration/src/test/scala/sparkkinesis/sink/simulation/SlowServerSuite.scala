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

/**
 * A small server without quotas writes 600 records per second, one request after the other. A
 * request that is not answered within 30 s is given up, but the server does its work.
 */
class SlowServerSuite extends AnyFunSuite {
  private val rowsOfTask = 15000

  private final class World {
    private val random = new Random(1)
    private val agenda = new Agenda
    private val kinesis = new SimulatedKinesis(agenda.clock, Settings())
    private val stream = StreamRef.ByName(StreamName("orders"))
    kinesis.createStream(stream.name, 16)
    private val target = new TargetStream(
      stream,
      kinesis,
      ServiceLimits.RecordBytes,
      None,
      1,
      agenda.clock,
      () => random.nextDouble()
    )
    private var idleAt = 0L
    var (unanswered, written, ended) = (0, 0, 0)
    var longest = 0L

    private object Server extends Wire {
      override def put(to: TargetStream, request: Request)(
          answered: Either[KinesisException, Seq[PutResult]] => Unit
      ): Unit = {
        val sentAt = agenda.now
        idleAt = math.max(idleAt, sentAt) + request.records.length * 1000L / 600
        longest = math.max(longest, idleAt - sentAt)
        if (idleAt - sentAt > 30000) {
          unanswered += 1
          agenda.after(30000)(answered(Left(new KinesisException.Unreachable("No answer."))))
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

    def run(tasks: Int): Unit = {
      (1 to tasks).foreach { _ =>
        val rows = Iterator
          .tabulate(rowsOfTask)(n => target -> PutEntry(s"key-$n", new Array[Byte](100), None))
        new SimulatedWriter(
          agenda,
          Server,
          RequestLimits.Default,
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
      agenda.run(10.minutes)
    }
  }

  Seq(1, 4).foreach { tasks =>
    test(s"$tasks tasks: no request times out, and each row is written once") {
      val world = new World
      world.run(tasks)
      info(f"longest answer ${world.longest / 1000.0}%.1f s, ${world.unanswered} without an answer")
      assert(world.ended === tasks && world.written === tasks * rowsOfTask)
      assert(world.unanswered === 0 && world.longest < 15000)
    }
  }
}
