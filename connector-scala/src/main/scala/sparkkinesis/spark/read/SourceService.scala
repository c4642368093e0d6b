package sparkkinesis.spark.read

import java.util.concurrent.{ConcurrentHashMap, RejectedExecutionException}

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis._

import sparkkinesis.client._
import sparkkinesis.model.StreamArn
import sparkkinesis.source.checkpoint.QueryStream
import sparkkinesis.source.plan.ExecutorTable
import sparkkinesis.source.protocol.{Heartbeat, ProtocolVersion}
import sparkkinesis.source.query.{Answer, Command, SourceQuery}
import sparkkinesis.spark.read.task.{FetchServices, QueryRun}
import sparkkinesis.spark.stop.StopGate

/**
 * Connects the decisions of a query with the world: asks them on Spark's thread, answers the
 * executors on Spark's RPC threads, and carries out commands on up to four threads of its own. Only
 * this class has the lock of the query.
 *
 * @param query of which each method is called with the lock
 * @param streams that the query reads
 * @param newRun called once, without the lock, before an executor is needed, with the access to
 *   each stream
 * @param isExecutor whether an executor of the application has this ID in Spark
 */
private[spark] final class SourceService[Q <: SourceQuery](
    context: SparkContext,
    gate: StopGate,
    query: Q,
    streams: Map[StreamArn, QueryStream],
    newRun: Map[StreamArn, StreamAccess] => QueryRun,
    isExecutor: (SparkContext, String) => Boolean = Executors.all(_).contains(_)
) extends AutoCloseable {
  import SourceService._

  private val log = LoggerFactory.getLogger(classOf[SourceService[_]])
  private val clock = SystemClock
  private val lock = new Object
  private var events = 0L
  private val calls = DaemonThreads.pool("spark-kinesis-driver", MaxThreads)
  private val addresses = new ConcurrentHashMap[String, String]() // of executors
  private val ticks = Timer.every(ExecutorTable.Tick)(() => tell((it, now) => it.tick(now)))
  private var refused = Set.empty[String] // addresses. Used by one RPC thread at a time
  private var endpoint = Option.empty[AutoCloseable]
  private var jobs = Vector.empty[SubmittedJob] // the newest last
  private var isJobKnown = true // whether the query knows how the newest one has ended

  /** The run of the query. From now on, executors are answered. Called by Spark's thread. */
  lazy val run: QueryRun = {
    val first = newRun(look((it, _) => it.streams.access))
    endpoint = Some(DriverRpc.serve(first.id)(received)(lost))
    first
  }

  /**
   * Asks until there is an answer. Called by Spark's thread.
   *
   * @throws Exception the failure that ends the query
   */
  @tailrec def ask[A](question: (Q, Moment) => Answer[A]): A = {
    gate.pass()
    reportJob()
    val (answer, before) = locked(it => (question(it, clock.moment), events))
    answer match {
      case Answer.Ready(value) =>
        gate.pass() // finding the answer may have taken seconds
        waitEnd.set(clock.moment.elapsed)
        value
      case Answer.Fail(cause) => throw cause
      case Answer.Wait(until) =>
        await(until.toEpochMilli, before)
        ask(question)
    }
  }

  private def await(until: Long, before: Long): Unit = lock.synchronized {
    def left = until - clock.steady.toEpochMilli
    while (events == before && left > 0) clock.await(lock, left)
  }

  /** When a source of the query last ended a wait in this thread. */
  def lastWait: FiniteDuration = waitEnd.get

  /** Something has happened. Spark's thread may have an answer now. */
  def tell[A](event: (Q, Moment) => A): A = locked { it =>
    events += 1
    lock.notifyAll()
    event(it, clock.moment)
  }

  /** What the query knows. Changes nothing. */
  def look[A](question: (Q, Moment) => A): A = locked(question(_, clock.moment))

  private def locked[A](event: Q => A): A = {
    val (answer, commands) = lock.synchronized {
      val answer = event(query)
      (answer, query.commands())
    }
    commands.foreach(carryOut)
    answer
  }

  private def carryOut(command: Command): Unit = command match {
    case Command.Describe(arn) =>
      call(arn)(it => it.kinesis.describeStream(it.access.ref))(_.described(arn, _, _))
    case Command.List(arn) => call(arn)(_.list())(_.listed(arn, _, _))
    case Command.Probe(arn, shards) => call(arn)(_.areGone(shards))(_.probed(arn, _, _))
    case Command.Begin(arn) => call(arn)(_.firstOffset())((it, answer, _) => it.begun(arn, answer))
    case Command.FindExecutors =>
      val all = Executors.all(context)
      tell((it, _) => it.executorsFound(all))
    case Command.StartServices(on) => startServices(on)
    case Command.Warn(text) => log.warn(text)
  }

  private def call[A](arn: StreamArn)(ask: QueryStream => A)(
      event: (Q, Try[A], Moment) => Unit
  ): Unit = {
    // An error, too, is an answer: without one the query would wait, and miss shards silently.
    def failed(cause: Throwable): Unit =
      if (!calls.isShutdown) tell(event(_, Failure(cause), _))
    val task: Runnable = () =>
      try {
        val answer = ask(streams(arn))
        if (!calls.isShutdown) tell(event(_, Success(answer), _))
      } catch { case e: Throwable => failed(e) }
    try calls.execute(task)
    catch {
      case _: RejectedExecutionException => // closed
      case e: Throwable => failed(e) // there is no memory for a thread
    }
  }

  /** Called by Spark's thread, so that the tasks see the session's classes and files. */
  private def startServices(executors: Map[String, String]): Unit = {
    val (holding, idle) = jobs.partition(_.holdsBlocks)
    idle.foreach(_.close())
    val started = run
    val name = s"spark-kinesis: start reading ahead of ${started.options.names}"
    jobs = holding :+ Executors.submit(context, executors, name, Executors.areDynamic(context)) {
      () => FetchServices.ensure(started): Unit
    }
    isJobKnown = false
  }

  private def reportJob(): Unit =
    jobs.lastOption.filterNot(isJobKnown || _.isRunning).foreach { it =>
      isJobKnown = true
      it.failure.foreach(log.warn(s"Starting to read ahead of ${run.options.names} failed.", _))
      tell((query, _) => query.servicesStarted(it.failure))
    }

  private def received(address: String, question: Array[Byte]): Array[Byte] = {
    val beat =
      try Messages.decode[Heartbeat](question, ProtocolVersion.Current)
      catch {
        case other: OtherVersion =>
          requireExecutor(address, other.sender)
          log.error(s"Cannot read a message from the executor at $address.", other)
          tell((it, _) => it.foundVersion(other.version))
          throw other
      }
    requireExecutor(address, beat.executor)
    Messages.encode(tell((it, _) => it.heard(beat)))
  }

  /** Only an executor of the application has a part in the query, and can end it. */
  private def requireExecutor(address: String, id: String): Unit =
    if (addresses.get(address) != id) {
      if (!isExecutor(context, id)) refuse(address)
      addresses.put(address, id): Unit
    }

  private def refuse(address: String): Nothing = {
    if (!refused(address) && refused.size < MostWarnings) {
      refused += address
      log.warn(s"Refusing messages from $address: it is not an executor of this application.")
    }
    throw new IllegalArgumentException(NoExecutor)
  }

  private def lost(address: String): Unit = Option(addresses.remove(address)).foreach { executor =>
    log.info(s"Lost executor $executor, which read shards of ${run.options.names}.")
    tell((it, _) => it.lost(executor))
  }

  /**
   * Tells every executor to stop, waits up to 2 s for its next heartbeat, and ends all threads and
   * jobs.
   */
  override def close(): Unit = {
    calls.shutdownNow()
    try {
      tell((it, _) => it.stop())
      jobs.foreach(_.close())
      if (endpoint.nonEmpty) awaitGoodbyes()
    } catch { case _: InterruptedException => Thread.currentThread.interrupt() }
    finally {
      ticks.close()
      endpoint.foreach(_.close())
    }
  }

  private def awaitGoodbyes(): Unit = lock.synchronized {
    val end = clock.elapsedMillis + Goodbye.toMillis
    while (!query.allKnowOfStop && clock.elapsedMillis < end)
      clock.await(lock, end - clock.elapsedMillis)
  }
}

private object SourceService {

  /** A call without an answer occupies a thread until its client gives up. */
  private val MaxThreads = 4
  private val Goodbye = 2.seconds

  private val MostWarnings = 100
  private val NoExecutor = "The sender is not an executor of this application."

  /** When the last wait in this thread ended. Spark has one thread for all sources of a query. */
  private val waitEnd = ThreadLocal.withInitial[FiniteDuration](() => Duration.Zero)
}
