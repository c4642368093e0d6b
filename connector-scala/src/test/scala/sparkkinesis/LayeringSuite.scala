package sparkkinesis

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** The dependency rules of `docs/architecture.md`, checked on the text of all main sources. */
class LayeringSuite extends AnyFunSuite {
  import LayeringSuite._

  private val sources: Seq[Source] = sourcesIn(Roots)

  private def sourcesIn(roots: Seq[String]): Seq[Source] = for {
    root <- roots.map(Repository.root.resolve)
    file <- Files.walk(root).iterator.asScala.toSeq.sorted
    if file.toString.endsWith(".scala")
  } yield Source.read(root, file)

  private val folders: Map[String, Seq[Source]] = sources.groupBy(_.folder)

  private lazy val uses: Map[Source, Set[Source]] =
    sources.map(source => source -> sources.filter(source.uses).toSet).toMap

  private def assertNone(offenders: Iterable[String]): Unit =
    assert(offenders.isEmpty, offenders.mkString("\n", "\n", ""))

  test("every folder has its place in a layer, and every place is a folder") {
    assert(folders.keySet === Layers.flatMap(_.folders).toSet)
  }

  test(
    "a folder uses only the folders listed before it, in its own layer and in the layers it may use"
  ) {
    assertNone(for {
      source <- sources
      used <- source.usedFolders
      if used != source.folder && !mayUse(source.folder, used)
    } yield s"${source.path} uses $used")
  }

  test("the files of a folder do not use each other in a circle") {
    val inFolder = uses.transform((source, used) => used.filter(_.folder == source.folder))
    assertNone(circles(inFolder).map(_.map(_.path).toSeq.sorted.mkString(" ")))
  }

  test("a file whose only user stands in the same folder is an exception, and these become fewer") {
    val users = uses.toSeq.flatMap { case (user, used) => used.map(_ -> user) }.groupMap(_._1)(_._2)
    val only = users
      .collect {
        case (file, Seq(user)) if file.folder == user.folder =>
          s"only ${user.path} uses ${file.path}"
      }
      .toSeq
      .sorted
    val all = only.mkString("\n", "\n", "")
    assert(only.size <= Satellites, s"A helper with one user lives in the file of its user.$all")
    assert(only.size >= Satellites, s"Fewer than before: set it to ${only.size}.$all")
  }

  test("each folder has a package.scala that describes it") {
    assertNone(folders.collect {
      case (folder, files) if !files.exists(isDescription) => s"$folder has no package.scala"
    })
  }

  test("what is public stands in tests/golden/api, and all else is private[sparkkinesis]") {
    val golden = new String(Files.readAllBytes(Repository.root.resolve(Golden)), UTF_8)
    val published = PublishedType.findAllMatchIn(golden).map(_.group(1)).toSet
    // Private to a package of Spark's, a definition would not be visible to ours.
    val ours = (sources ++ sourcesIn(Shims))
      .filterNot(it => it.layer == "simulator" || it.folder == "spark/internal")
    assert(ours.flatMap(_.publicDefinitions).toSet === published)
  }

  private def isDescription(source: Source): Boolean =
    source.path.endsWith("/package.scala") && source.text.contains("/**")

  test("only the spark layer uses Spark and Hadoop; only spark/internal is in Spark's packages") {
    val others = sources.filterNot(_.layer == "spark")
    assertNone(others.filter(_.names("org\\.apache\\.(spark|hadoop)").nonEmpty).map(_.path))
    sources.foreach { source =>
      val isInside = source.code.contains("package org.apache.spark")
      assert(isInside === (source.folder == "spark/internal"), source.path)
    }
  }

  test("only client/aws uses the AWS SDK") {
    val others = sources.filterNot(_.folder.startsWith("client/aws"))
    assertNone(others.filter(_.names("software\\.amazon\\.awssdk").nonEmpty).map(_.path))
  }

  test("the model does not read a clock and does no input or output") {
    val outside =
      "java\\.(io|net|nio\\.file|nio\\.channels|sql)|scala\\.(io|sys|concurrent\\.Future)|" +
        "java\\.util\\.concurrent|java\\.time\\.Clock|org\\.slf4j|System\\.(?!arraycopy)|Thread|" +
        "sys\\."
    assertNone(sources.filter(s => s.layer == "model" && s.names(outside).nonEmpty).map(_.path))
  }

  test("no code returns early, has a finalizer or writes XML") {
    val words = "return\\b|finalize\\b|scala\\.xml\\b"
    val xml = "(?m)(?:^|[=({,])\\s*<\\w".r
    assertNone(
      sources.filter(s => s.names(words).nonEmpty || xml.findFirstIn(s.code).nonEmpty).map(_.path)
    )
  }

  test("only SystemClock reads the time or sleeps") {
    val clocks = "System\\.(nanoTime|currentTimeMillis)|Thread\\.sleep|TimeUnit\\.\\w+\\.sleep|" +
      "(Instant|LocalDateTime|OffsetDateTime|ZonedDateTime)\\.now\\b|Clock\\.system|new Date\\(\\)"
    assert(sources.filter(_.names(clocks).nonEmpty).map(_.path) === Seq("client/Clock.scala"))
  }

  test("only SystemClock and the seed of a task draw unseeded random numbers") {
    val chance =
      "new (scala\\.util\\.|java\\.util\\.)?Random\\(?\\)?(?!\\(?\\w)|Random\\.next|" +
        "ThreadLocalRandom|Math\\.random"
    assert(
      sources.filter(_.names(chance).nonEmpty).map(_.path) ===
        Seq("client/Clock.scala", "spark/write/KinesisDataWriter.scala")
    )
  }
}

object LayeringSuite {
  private val Roots = Seq(
    "connector-scala/src/main/scala/sparkkinesis",
    "connector-scala/spark-4.1/src/main/scala/sparkkinesis",
    "localstack/simulator/src/main/scala/sparkkinesis"
  )

  /** What one Scala version or its Sparks lack. */
  private val Shims =
    Seq("2.12", "2.13").map(it => s"connector-scala/src/main/scala-$it/sparkkinesis")

  private val Golden = "tests/golden/api/scala.txt"
  private val PublishedType = "(?m)^public .*?(?:class|interface) sparkkinesis\\.([\\w.$]+)".r

  /** Number of files whose only user stands in the same folder. It may only fall. */
  private val Satellites = 65

  /**
   * A layer, the layers it may use, and its folders in their order: each uses only those before it.
   * Only the layer `spark` uses `client/aws`, which creates clients.
   */
  private final case class Layer(name: String, uses: Set[String], folders: Seq[String])

  private val Layers = Seq(
    Layer("model", Set.empty, Seq("model", "model/offset", "model/aggregate")),
    Layer(
      "client",
      Set("model"),
      Seq(
        "client/access",
        "client",
        "client/options",
        "client/aws/http",
        "client/aws/wire",
        "client/aws/credentials",
        "client/aws"
      )
    ),
    Layer("shard", Set("model", "client"), Seq("shard/pace", "shard", "shard/feed")),
    Layer(
      "source",
      Set("model", "client", "shard"),
      Seq(
        "source/protocol",
        "source",
        "source/position",
        "source/options",
        "source/plan",
        "source/realtime",
        "source/store",
        "source/checkpoint",
        "source/fetch",
        "source/watch",
        "source/query",
        "source/replay"
      )
    ),
    Layer(
      "sink",
      Set("model", "client", "shard"),
      Seq("sink", "sink/once", "sink/metrics", "sink/rate", "sink/lane", "sink/write")
    ),
    Layer(
      "spark",
      Set("model", "client", "shard", "source", "sink"),
      Seq(
        "spark/internal",
        "spark/errors",
        "spark/lineage",
        "spark/metrics",
        "spark/monitor",
        "spark/deadletter",
        "spark/payload",
        "spark/once",
        "spark/stop",
        "spark/realtime",
        "spark/read/task",
        "spark/read/checkpoint",
        "spark/read/realtime",
        "spark/read",
        "spark/write",
        "spark"
      )
    ),
    Layer(
      "simulator",
      Set("model", "client"),
      Seq(
        "simulator/record",
        "simulator/state",
        "simulator/paging",
        "simulator/operation",
        "simulator/listing",
        "simulator/fanout",
        "simulator/fault",
        "simulator/quota",
        "simulator/service",
        "simulator/http/wire",
        "simulator/http/response",
        "simulator/http/action",
        "simulator/http/request",
        "simulator/http/admin",
        "simulator/http",
        "simulator/journal",
        "simulator"
      )
    )
  )

  private val LayerOf: Map[String, Layer] =
    Layers.flatMap(layer => layer.folders.map(_ -> layer)).toMap

  private def mayUse(folder: String, used: String): Boolean =
    (LayerOf.get(folder), LayerOf.get(used)) match {
      case (Some(layer), Some(other)) if layer == other =>
        layer.folders.indexOf(used) < layer.folders.indexOf(folder)
      case (Some(layer), Some(other)) =>
        layer.uses(other.name) && (!used.startsWith("client/aws") || layer.name == "spark")
      case _ => false
    }

  /** A main source. `code` has neither comments nor the contents of strings. */
  private final case class Source(path: String, text: String) {
    val code: String = text
      .replaceAll("(?s)/\\*.*?\\*/", "")
      .replaceAll("(?m)//.*$", "")
      .replaceAll("\"(\\\\.|[^\"\\\\\n])*\"", "\"\"")

    def folder: String = path.take(path.lastIndexOf('/'))

    def layer: String = path.takeWhile(_ != '/')

    def names(pattern: String): Seq[String] = s"(?<![\\w.])(?:$pattern)".r.findAllIn(code).toSeq

    private val namedFolders: Set[String] =
      names("sparkkinesis(\\.[a-z]\\w*)+")
        .map(_.stripPrefix("sparkkinesis.").replace('.', '/'))
        .filterNot(_.endsWith("compat")) // the shims for Scala 2.12
        .toSet

    /** The folders that this source names, without those that contain it. */
    def usedFolders: Set[String] =
      namedFolders.filterNot(used => s"$folder/".startsWith(s"$used/"))

    /** Top-level classes, traits and objects. */
    private val definitions: Seq[String] = Definition.findAllMatchIn(code).map(_.group(1)).toSeq

    /** Definitions without `private`, with their package; a `$` follows an object's name. */
    def publicDefinitions: Seq[String] =
      AnyDefinition
        .findAllMatchIn(code)
        .filterNot(_.group(1).contains("private"))
        .map { found =>
          val suffix = if (found.group(2) == "object") "$" else ""
          s"${folder.replace('/', '.')}.${found.group(3)}$suffix"
        }
        .toSeq

    private val types: Set[String] =
      names("([a-z]\\w*\\.)*[A-Z]\\w*").map(it => it.drop(it.lastIndexOf('.') + 1)).toSet

    /** Whether this source names a definition of the other one, and can see it. */
    def uses(other: Source): Boolean = other != this && other.definitions.exists(types) &&
      (other.folder == folder || namedFolders(other.folder))
  }

  private val Definition = "(?m)^(?:[a-z]+(?:\\[\\w+\\])? )*(?:class|trait|object) ([A-Z]\\w*)".r

  /** Definitions at the top of a file, but no package object without public members. */
  private val AnyDefinition =
    ("(?m)^(?!package object \\w+(?: \\{(?:\\s+private.*)*\\s*\\})?$)" +
      "(\\S.*?|)\\b(class|trait|object) (\\w+)").r

  private object Source {
    def read(root: Path, file: Path): Source = Source(
      root.relativize(file).toString.replace('\\', '/'),
      new String(Files.readAllBytes(file), UTF_8)
    )
  }

  private def circles(uses: Map[Source, Set[Source]]): Set[Set[Source]] = {
    @tailrec
    def reached(from: Set[Source]): Set[Source] = {
      val more = from ++ from.flatMap(uses)
      if (more == from) from else reached(more)
    }
    val reach = uses.transform((_, used) => reached(used))
    reach.collect {
      case (file, others) if others(file) => others.filter(other => reach(other)(file))
    }.toSet
  }
}
