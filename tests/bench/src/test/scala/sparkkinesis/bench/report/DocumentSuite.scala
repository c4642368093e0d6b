package sparkkinesis.bench.report

import java.nio.file.{Files, Path}

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.bench.{Environment, TemporaryFolder}

class DocumentSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val folder = new TemporaryFolder
  private val names = Seq("read", "write")

  override protected def afterAll(): Unit = folder.close()

  private def result(name: String) = Result.measured(name, "s", Samples(Seq(2)))

  private def documentOf(text: String): Path =
    Files.writeString(folder.newFolder().resolve("benchmarks.md"), text)

  private def around(lines: String*) =
    (Seq("before", Document.Begin) ++ lines ++ Seq(Document.End, "after", "")).mkString("\n")

  private def row(name: String) = Report.rows(Seq(result(name))).head

  test("a document keeps the text around its results, however often they are written") {
    val document = documentOf(around("Not measured yet."))
    for (_ <- 1 to 2) Document.write(document, "then", Seq(result("read: a")), names)
    val expected = Seq("- read: then", "") ++ Report.TableHead :+ row("read: a")
    assert(Files.readString(document) === around(expected: _*))
  }

  test("rows of scenarios that were not measured stay, and name the version that measured them") {
    val document = documentOf(around())
    Document.write(document, "then", Seq(result("write: a"), result("read: a")), names)
    Document.write(document, "now", Seq(result("read: b")), names)
    val settings = Seq("- read: now", "- write: then", "")
    val expected = settings ++ Report.TableHead ++ Seq(row("read: b"), row("write: a"))
    assert(Files.readString(document) === around(expected: _*))
  }

  test("rows of a scenario that no longer exists are removed") {
    val document = documentOf(around())
    Document.write(document, "then", Seq(result("read: a"), result("write: a")), names)
    Document.write(document, "now", Nil, Seq("write"))
    assert(!Files.readString(document).contains("read:"))
  }

  test("a document without a place for the results is left unchanged") {
    val text = s"${Document.End} ${Document.Begin}"
    val document = documentOf(text)
    assertThrows[IllegalStateException](Document.write(document, "now", Nil, names))
    assert(Files.readString(document) === text)
  }

  test("the place of the measurement names the hardware, and not the machine") {
    val cores = Runtime.getRuntime.availableProcessors
    val setting = Environment.now()
    assert(setting.contains(s", $cores cores, Java ${sys.props("java.version")}, Spark "), setting)
    assert(
      setting.matches("(commit [0-9a-f]{8,}( with changes)?|no commit), \\d{4}-\\d\\d-\\d\\d, .*")
    )
  }
}
