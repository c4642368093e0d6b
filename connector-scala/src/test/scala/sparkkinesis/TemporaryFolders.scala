package sparkkinesis

import java.nio.file.{Files, Path}
import java.util.Comparator

import scala.util.Using

import org.scalatest.{BeforeAndAfterAll, Suite}

/** Folders for the tests of a suite, deleted after the suite. */
trait TemporaryFolders extends BeforeAndAfterAll { this: Suite =>
  private lazy val parent = Files.createTempDirectory("spark-kinesis-test")

  protected def newFolder(): Path = Files.createTempDirectory(parent, "in")

  override protected def afterAll(): Unit =
    try super.afterAll()
    finally
      Using.resource(Files.walk(parent)) {
        _.sorted(Comparator.reverseOrder[Path]).forEach(Files.deleteIfExists(_): Unit)
      }
}
