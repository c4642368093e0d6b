package sparkkinesis

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/**
 * What must hold for any bytes. Jazzer calls the method of each object with bytes that it chooses
 * by the code that they reach (`make campaign PART=fuzz`). An exception is a finding.
 */
trait FuzzTarget {
  def fuzzerTestOneInput(bytes: Array[Byte]): Unit

  /** Jazzer begins with some of them. */
  def examples: Gen[Array[Byte]]
}

/** All targets. Jazzer runs only those in this list. */
object FuzzTargets {
  val all: Seq[FuzzTarget] = Seq(
    model.aggregate.AggregateTarget,
    source.checkpoint.OffsetTarget,
    source.checkpoint.OffsetLogTarget,
    source.options.OptionsTarget,
    client.aws.wire.GetRecordsTarget,
    client.aws.wire.PutRecordsTarget,
    client.aws.wire.EventStreamTarget,
    client.aws.wire.EventTarget,
    spark.payload.PayloadTarget,
    spark.once.AttemptTarget
  )

  private val Examples = 50L

  /**
   * Runs the target with this name on a file: `main(target, file)`. Or writes examples of all
   * targets, each into the folder with its name, and prints these names: `main(folder)`.
   */
  def main(args: Array[String]): Unit = args match {
    case Array(name, file) =>
      val bytes = Files.readAllBytes(Repository.root.resolve(file))
      val target = all.find(nameOf(_) == name)
      target.getOrElse(sys.error(s"no target $name")).fuzzerTestOneInput(bytes)
    case _ =>
      all.foreach(writeExamples(Path.of(args.head), _))
      all.foreach(it => println(s"target: ${nameOf(it)}"))
  }

  private def writeExamples(folder: Path, target: FuzzTarget): Unit = for {
    own <- Seq(Files.createDirectories(folder.resolve(nameOf(target))))
    seed <- 1L to Examples
    bytes <- target.examples.apply(Gen.Parameters.default, Seed(seed))
  } Files.write(own.resolve(s"example-$seed"), bytes)

  /** The name of a class whose static method Jazzer calls. */
  private def nameOf(target: FuzzTarget) = target.getClass.getName.stripSuffix("$")

  def utf8(text: String): Array[Byte] = text.getBytes(UTF_8)
}
