package sparkkinesis.simulator

import java.net.BindException
import java.nio.file.{Path, Paths}

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client.SystemClock
import sparkkinesis.model.{StreamArn, StreamName}
import sparkkinesis.simulator.journal.FileJournal
import sparkkinesis.simulator.operation.{CreateStream, DescribeStreamSummary}
import sparkkinesis.simulator.service.{Journal, JournalException, SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state._

/** The local Kinesis as a program. `--help` prints its options. */
object Main {
  def main(args: Array[String]): Unit = Arguments.parse(args.toList) match {
    case Left(message) => end(2, message)
    case Right(arguments) if arguments.help => println(Arguments.Usage)
    case Right(arguments) => serve(arguments)
  }

  private def serve(arguments: Arguments): Unit = {
    val kinesis = this.kinesis(arguments)
    arguments.streams.foreach { case (name, shards) =>
      val arn = StreamArn("aws", arguments.region, SimulatedKinesis.Account, name)
      prepare(kinesis, arn, shards, arguments.persist.nonEmpty)
        .fold(end(1, _), _.foreach(Console.err.println))
    }
    // The port opens last, so that a client finds the streams.
    val server =
      try KinesisServer.start(arguments.port, kinesis)
      catch { case e: BindException => end(1, s"--port ${arguments.port}: ${e.getMessage}") }
    sys.addShutdownHook(server.close())
    println(s"listening on ${server.endpoint}")
    if (arguments.stopWithStdin) {
      readToEnd()
      server.close()
    } else server.awaitClosed()
  }

  /**
   * Creates a stream of the command line. Returns a warning if it was restored with another number
   * of shards, or the error.
   */
  private[simulator] def prepare(
      kinesis: SimulatedKinesis,
      arn: StreamArn,
      shards: Int,
      isRestored: Boolean
  ): Either[String, Option[String]] = kinesis.prepare(CreateStream(arn, shards)) match {
    case Right(_) => Right(None)
    case Left(Failure.Refused(ErrorCode.ResourceInUse, _)) if isRestored =>
      val open = kinesis.prepare(DescribeStreamSummary(arn)).map(_.summary.openShards)
      Right(open.toOption.filter(_ != shards).map { open =>
        s"Warning: --stream ${arn.name}:$shards: the stream was restored with $open open shards, " +
          "and stays unchanged."
      })
    case Left(Failure.Refused(code, said)) =>
      Left(s"--stream ${arn.name}:$shards: ${code.name}: $said")
    case Left(Failure.NoAnswer) => Left(s"--stream ${arn.name}:$shards: no answer")
  }

  private def kinesis(arguments: Arguments): SimulatedKinesis =
    try {
      val journal = arguments.persist.fold[Journal](Journal.None) { directory =>
        FileJournal.open(directory, said => Console.err.println(s"Warning: $said"))
      }
      val clock =
        if (arguments.isTimeSimulated) new SimulatedClock(SystemClock.now) else SystemClock
      val settings = Settings(
        changeTime = arguments.changeTime,
        quotas = arguments.quotas.isDefined,
        consumerLimit = arguments.consumerLimit,
        listLag = arguments.listLag,
        writeQuota = arguments.quotas.getOrElse(WriteQuota.Bucket),
        behaviour = arguments.behaviour
      )
      new SimulatedKinesis(clock, settings, journal = journal)
    } catch {
      case e: JournalException => end(1, e.getMessage)
    }

  private def end(status: Int, why: String): Nothing = {
    Console.err.println(why)
    sys.exit(status)
  }

  @tailrec private def readToEnd(): Unit = if (System.in.read() >= 0) readToEnd()
}

/**
 * The command line.
 *
 * @param streams streams to create, with their numbers of shards
 * @param persist the directory that stores the streams
 * @param isTimeSimulated whether time moves only on request
 * @param changeTime see [[Settings]], as for `listLag` and `consumerLimit`
 * @param quotas how the server counts what a shard accepts; without it, no limit applies
 * @param behaviour what AWS does and a simple local server does not
 */
private[simulator] final case class Arguments(
    port: Int = 0,
    region: String = SimulatedKinesis.Region,
    streams: Vector[(StreamName, Int)] = Vector.empty,
    persist: Option[Path] = None,
    isTimeSimulated: Boolean = false,
    changeTime: FiniteDuration = Duration.Zero,
    listLag: FiniteDuration = Duration.Zero,
    consumerLimit: Int = Settings().consumerLimit,
    quotas: Option[WriteQuota] = None,
    behaviour: Behaviour = Behaviour(),
    stopWithStdin: Boolean = false,
    help: Boolean = false
)

private[simulator] object Arguments {
  private lazy val BehaviourUsage: String = Behaviour.settings
    .map(it => s"  --${it.name} ${it.example}".padTo(32, ' ') + it.effect)
    .mkString("\n")

  val Usage: String =
    s"""A local Kinesis on 127.0.0.1.
      |  --port N              port to listen on; 0, the default, means any free port
      |  --stream NAME:SHARDS  create this stream; may be repeated
      |  --region REGION       region of these streams; default: us-east-1
      |  --persist DIR         store the streams in this directory, and restore them at the start
      |  --clock system        use the time of the machine (default)
      |  --clock simulated     time stands still until POST /_simulator/clock moves it
      |  --list-lag 2s         how long listings show the shards before a reshard; default: 0s
      |  --change-time 500ms   how long a stream is CREATING, UPDATING or DELETING; default: 0s
      |  --consumer-limit 20   maximum number of consumers of a stream: 20 (default) or 50
      |  --quotas aws|off      apply the service's throughput and call limits; default: off
      |  --quotas KIND         the same, but count writes to a shard in another way: window,
      |                        counting-window, rolling, smooth, shared or steps
      |  --stop-with-stdin     stop when standard input ends
      |What AWS does and a simple local server does not; off by default:
      |$BehaviourUsage
      |Prints "listening on http://127.0.0.1:PORT" when it accepts requests.""".stripMargin

  private val Stream = s"(${Identifier.Pattern}):(\\d{1,5})".r

  def parse(args: List[String]): Either[String, Arguments] = parse(args, Arguments())

  @tailrec
  private def parse(args: List[String], sofar: Arguments): Either[String, Arguments] = args match {
    case Nil => Right(sofar)
    case "--port" :: port :: rest if port.toIntOption.exists(p => p >= 0 && p <= 65535) =>
      parse(rest, sofar.copy(port = port.toInt))
    case "--stream" :: Stream(name, shards) :: rest =>
      parse(rest, sofar.copy(streams = sofar.streams :+ (StreamName(name) -> shards.toInt)))
    case "--region" :: region :: rest if region.matches("[a-z0-9-]+") =>
      parse(rest, sofar.copy(region = region))
    case "--persist" :: directory :: rest =>
      parse(rest, sofar.copy(persist = Some(Paths.get(directory))))
    case "--clock" :: (kind @ ("system" | "simulated")) :: rest =>
      parse(rest, sofar.copy(isTimeSimulated = kind == "simulated"))
    case "--list-lag" :: TimeText(lag) :: rest => parse(rest, sofar.copy(listLag = lag))
    case "--change-time" :: TimeText(time) :: rest => parse(rest, sofar.copy(changeTime = time))
    case "--consumer-limit" :: (limit @ ("20" | "50")) :: rest =>
      parse(rest, sofar.copy(consumerLimit = limit.toInt))
    case "--quotas" :: "off" :: rest => parse(rest, sofar.copy(quotas = None))
    case "--quotas" :: kind :: rest if WriteQuota.parse(kind).isDefined =>
      parse(rest, sofar.copy(quotas = WriteQuota.parse(kind)))
    case "--stop-with-stdin" :: rest => parse(rest, sofar.copy(stopWithStdin = true))
    case "--help" :: rest => parse(rest, sofar.copy(help = true))
    case option :: value :: rest if changed(sofar, option, value).isDefined =>
      parse(rest, changed(sofar, option, value).getOrElse(sofar))
    case other => Left(s"Invalid argument '${other.take(2).mkString(" ")}'.\n$Usage")
  }

  private def changed(sofar: Arguments, option: String, value: String): Option[Arguments] =
    Behaviour
      .changed(sofar.behaviour, option.stripPrefix("--"), value)
      .map(behaviour => sofar.copy(behaviour = behaviour))
}
