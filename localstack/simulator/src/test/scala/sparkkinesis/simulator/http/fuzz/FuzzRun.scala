package sparkkinesis.simulator.http.fuzz

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.HexFormat

import com.sun.management.ThreadMXBean

import sparkkinesis.model.{Position, PutEntry, ShardId, StreamName, StreamRef}
import sparkkinesis.simulator.http.action.Actions
import sparkkinesis.simulator.http.{EmbeddedServer, HttpAnswer}

/** Some inputs for a server of its own; all of it follows from the seed. */
private[http] final class FuzzRun(seed: Long, inputs: Int) {
  import FuzzRun._

  private val dice = new Dice(seed)
  private val world = new FuzzWorld
  private val server = new EmbeddedServer(world.kinesis)
  private val requests = new FuzzedRequests(dice, world, Shapes)

  /** Throws `AssertionError` where an answer is wrong. */
  def run(): Unit = {
    (1 to inputs).foreach { i =>
      if (dice.oneIn(100)) world.clock.advance(Ticks(dice.below(Ticks.size)))
      if (i > inputs * 49 / 50) administer(i)
      else if (dice.oneIn(20)) tellRaw(i)
      else askFramed(i)
    }
    server.reconnect()
    expect(inputs, Array.emptyByteArray, server.heldBytes == 0)(
      s"${server.heldBytes} bytes of buffers are not released"
    )
    stillServes()
  }

  private def askFramed(i: Int): Unit = {
    val request = requests.framed()
    val answers = bounded(i, request)(server.ask(request))
    HttpAnswer.first(answers) match {
      case None => wrong(i, request, "no answer")
      case Some((answer, _)) if answer.isStream => server.reconnect()
      case Some((answer, rest)) =>
        answer.fault.foreach(wrong(i, request, _))
        expect(i, request, rest.isEmpty)("more than one answer")
    }
  }

  /**
   * Calls the admin endpoint at the end of a run, because it may move the clock far. Its faults
   * strike no request.
   */
  private def administer(i: Int): Unit = {
    val request = requests.admin()
    val (answer, _) = HttpAnswer.first(bounded(i, request)(server.ask(request))).get
    expect(i, request, answer.status == 200 || answer.status / 100 == 4)(s"status ${answer.status}")
    world.kinesis.script.removeAll()
  }

  private def tellRaw(i: Int): Unit = {
    val request = requests.raw()
    val size = 1 + dice.below(request.length + 1)
    val answers = bounded(i, request)(server.tell(request.grouped(size)))
    HttpAnswer.all(answers).filter(a => a.status != 100 && a.status != 101 && !a.isStream).foreach {
      _.fault.foreach(wrong(i, request, _))
    }
  }

  /** A length that is only claimed must not cost its memory. */
  private def bounded(i: Int, request: Array[Byte])(answer: => Array[Byte]): Array[Byte] = {
    current = Input(seed, i, request)
    val before = Threads.getCurrentThreadAllocatedBytes
    val answers =
      try answer
      catch { case e: Exception => throw new AssertionError(s"$current: $e", e) }
    val allocated = Threads.getCurrentThreadAllocatedBytes - before
    expect(i, request, allocated < MaxAllocated + 100L * (request.length + answers.length))(
      s"took $allocated bytes of memory"
    )
    answers
  }

  private def stillServes(): Unit = {
    val kinesis = world.kinesis
    val stream = StreamName(s"after-$seed")
    kinesis.createStream(stream, 1)
    kinesis.putRecord(stream, PutEntry("k", "v".getBytes(UTF_8), None))
    val ref = StreamRef.ByName(stream)
    val from = kinesis.shardIterator(ref, ShardId("shardId-000000000000"), Position.TrimHorizon)
    val found = kinesis.getRecords(ref, from, 10).records.map(r => new String(r.data, UTF_8))
    expect(inputs, Array.emptyByteArray, found == Seq("v"))(s"a record put came back as $found")
  }

  private def expect(i: Int, request: Array[Byte], holds: Boolean)(why: => String): Unit =
    if (!holds) wrong(i, request, why)

  private def wrong(i: Int, request: Array[Byte], why: String): Nothing =
    throw new AssertionError(s"$why: ${Input(seed, i, request)}")
}

/** One request of a run; printed as text if it is short text. */
private[http] final case class Input(seed: Long, number: Int, request: Array[Byte]) {
  override def toString: String = {
    val start = request.take(1500)
    val text = new String(start, ISO_8859_1)
    val isText = text.forall(c => c >= ' ' && c < 127 || c == '\r' || c == '\n')
    val hex = if (isText) "" else s" (hex ${HexFormat.of.formatHex(start)})"
    s"SEED=$seed, input $number, ${request.length} bytes: $text$hex"
  }
}

private[http] object FuzzRun {

  /** The current input, for an error about a hang. */
  @volatile var current: Input = Input(0, 0, Array.emptyByteArray)

  /** Every operation that is served. */
  val Shapes: Vector[(String, Shape.Structure)] =
    Actions.byName.keys.toVector.sorted.map(name => name -> Shape.ofRequest(name))

  private val MaxAllocated = 8L * 1024 * 1024

  private val Ticks = {
    import scala.concurrent.duration._
    Vector(1.milli, 1.second, 1.minute, 10.minutes, 7.hours)
  }

  private val Threads = ManagementFactory.getThreadMXBean match {
    case threads: ThreadMXBean => threads
    case other => throw new IllegalStateException(s"$other does not count allocated bytes.")
  }
}
