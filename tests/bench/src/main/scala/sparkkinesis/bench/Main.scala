package sparkkinesis.bench

import java.nio.file.{Path, Paths}

import scala.annotation.tailrec
import scala.util.Using

import sparkkinesis.bench.report.{Document, Report}
import sparkkinesis.bench.server.BenchSpark
import sparkkinesis.bench.sizing.Sizing

/** Runs the scenarios and writes the report, for `make bench`. */
object Main {
  def main(args: Array[String]): Unit = {
    val isWell = Arguments
      .parse(args.toList)
      .fold(
        { message =>
          Console.err.println(message)
          false
        },
        measure
      )
    sys.exit(if (isWell) 0 else 1)
  }

  /** @return whether every figure could be measured, even if a goal was missed */
  def measure(arguments: Arguments): Boolean = {
    val sizing = if (arguments.isQuick) Sizing.Quick else Sizing.Full
    val outcomes = Using.resource(new BenchSpark) { spark =>
      val all = Scenarios.all(spark, sizing)
      Scenarios.runAll(all.filter(s => arguments.only.forall(_.contains(s.name))))
    }
    val measured = outcomes.flatMap(_.results)
    val rows = Report.merge(arguments.results, measured, Scenarios.Names)
    println(Report.table(rows).mkString("\n"))
    println(s"written to ${arguments.results}")
    if (!arguments.isQuick)
      Document.write(arguments.document, Environment.now(), measured, Scenarios.Names)
    outcomes.forall(_.isWell)
  }
}

/**
 * The command line.
 *
 * @param only the scenarios to run; `None` means all
 * @param document receives the table, unless `isQuick`
 */
final case class Arguments(
    only: Option[Set[String]] = None,
    isQuick: Boolean = false,
    results: Path = Paths.get("target/bench/results.json"),
    document: Path = Paths.get("docs/reference/benchmarks.md")
)

object Arguments {
  def parse(args: List[String]): Either[String, Arguments] = parse(args, Arguments())

  @tailrec
  private def parse(args: List[String], sofar: Arguments): Either[String, Arguments] = args match {
    case Nil => Right(sofar)
    case "--quick" :: rest =>
      parse(rest, sofar.copy(isQuick = true, results = Paths.get("target/bench/quick.json")))
    case "--only" :: names :: rest if names.split(',').forall(Scenarios.Names.contains) =>
      parse(rest, sofar.copy(only = Some(names.split(',').toSet)))
    case other =>
      Left(
        s"Invalid argument '${other.take(2).mkString(" ")}'. Use --quick or " +
          s"--only with some of ${Scenarios.Names.mkString(",")}."
      )
  }
}
