package sparkkinesis

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** The arrows between the layers, read from the words of every main source (comments left out). */
class LayeringSuite extends AnyFunSuite {
  private case class Source(path: String, layer: String, code: String) {
    def uses(pattern: String): Seq[String] = s"(?<![\\w.])(?:$pattern)".r.findAllIn(code).toSeq
  }

  private val roots = Seq(
    "connector-scala/src/main/scala/sparkkinesis",
    "localstack/simulator/src/main/scala/sparkkinesis"
  )

  private val sources: Seq[Source] = for {
    root <- roots.map(Repository.root.resolve)
    file <- Files.walk(root).iterator.asScala.toSeq
    if file.toString.endsWith(".scala")
  } yield source(root, file)

  private def source(root: Path, file: Path): Source = {
    val path = root.relativize(file).toString.replace('\\', '/')
    val text = new String(Files.readAllBytes(file), UTF_8)
    val code = text.replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("(?m)//.*$", "")
    val layer = Seq("client/aws", "spark/internal").find(l => path.startsWith(s"$l/"))
    Source(path, layer.getOrElse(path.takeWhile(_ != '/')), code)
  }

  /** What each layer may know of the others. */
  private val arrows = Map(
    "model" -> Set.empty[String],
    "client" -> Set("model"),
    "client/aws" -> Set("model", "client"),
    "source" -> Set("model", "client"),
    "sink" -> Set("model", "client"),
    "spark" -> Set("model", "client", "client/aws", "source", "sink"),
    "spark/internal" -> Set.empty[String],
    "simulator" -> Set("model", "client")
  )

  private def layersNamedIn(source: Source): Set[String] = {
    val layers = source.uses("sparkkinesis\\.[a-z]+(\\.aws)?").map(_.stripPrefix("sparkkinesis."))
    layers.map(_.replace('.', '/')).toSet - "compat" // what Scala 2.12 lacks
  }

  private def offenders(of: Source => Iterable[Any]): Seq[String] =
    sources.filter(of(_).nonEmpty).map(source => s"${source.path}: ${of(source).mkString(", ")}")

  test("there is something to look at, in every layer") {
    assert(sources.size > 60 && sources.map(_.layer).toSet === arrows.keySet)
  }

  test("a layer knows only those its arrows lead to") {
    assert(offenders { source =>
      layersNamedIn(source).filterNot(layer => layer == source.layer || arrows(source.layer)(layer))
    }.isEmpty)
  }

  test(
    "only the spark layer knows Spark and Hadoop; only spark/internal is inside Spark's packages"
  ) {
    val foreign = sources.filterNot(_.layer.startsWith("spark"))
    foreign.foreach(s => assert(s.uses("org\\.apache\\.(spark|hadoop)").isEmpty, s.path))
    sources.foreach { source =>
      val isInside = source.code.startsWith("package org.apache.spark")
      assert(isInside === (source.layer == "spark/internal"), source.path)
    }
  }

  test("only client/aws knows the AWS SDK") {
    val foreign = sources.filterNot(_.layer == "client/aws")
    foreign.foreach(source =>
      assert(source.uses("software\\.amazon\\.awssdk").isEmpty, source.path)
    )
  }

  test("the model neither reads a clock nor reaches outside") {
    val outside =
      "java\\.(io|net|nio\\.file|nio\\.channels|sql)|scala\\.(io|sys|concurrent\\.Future)|" +
        "java\\.util\\.concurrent|java\\.time\\.Clock|org\\.slf4j|System\\.(?!arraycopy)|Thread|sys\\."
    sources.filter(_.layer == "model").foreach(s => assert(s.uses(outside).isEmpty, s.path))
  }

  test("only SystemClock reads the time or sleeps") {
    val clocks = "System\\.(nanoTime|currentTimeMillis)|Thread\\.sleep|TimeUnit\\.\\w+\\.sleep|" +
      "(Instant|LocalDateTime|OffsetDateTime|ZonedDateTime)\\.now\\b|Clock\\.system|new Date\\(\\)"
    val offending = sources.filter(_.uses(clocks).nonEmpty).map(_.path)
    assert(offending === Seq("client/Clock.scala"))
  }

  test("only SystemChance and the seed of a task draw a chance that is not seeded") {
    val chance =
      "new (scala\\.util\\.|java\\.util\\.)?Random\\(?\\)?(?!\\(?\\w)|Random\\.next|ThreadLocalRandom|Math\\.random"
    val offending = sources.filter(_.uses(chance).nonEmpty).map(_.path)
    assert(
      offending.sorted === Seq("client/SystemChance.scala", "spark/write/KinesisDataWriter.scala")
    )
  }
}
