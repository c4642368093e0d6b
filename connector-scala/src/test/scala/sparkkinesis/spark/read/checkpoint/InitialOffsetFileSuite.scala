package sparkkinesis.spark.read.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => LocalPath}
import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{arn, only, shardId}
import sparkkinesis.TemporaryFolders
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.shard.SourceException
import sparkkinesis.source.checkpoint.OffsetCodec

class InitialOffsetFileSuite extends AnyFunSuite with TemporaryFolders {
  private def offset(millis: Long) = only(
    StreamOffset(
      arn,
      Instant.ofEpochMilli(millis),
      SortedMap(shardId(0) -> ShardProgress(Progress.TrimHorizon, Set.empty))
    )
  )

  /** Passes a directory that does not exist yet, as Spark does. */
  private def inDirectory(use: (LocalPath, () => InitialOffsetFile) => Unit): Unit = {
    val directory = newFolder().resolve("sources/0")
    use(directory, () => new InitialOffsetFile(new Path(directory.toUri), new Configuration(false)))
  }

  private def text(directory: LocalPath) =
    new String(Files.readAllBytes(directory.resolve("initial-offset.json")), UTF_8)

  test("the first offset is decided once, and stored as the codec writes it, with no other file") {
    inDirectory { (directory, file) =>
      assert(file().readOrWrite(offset(1)) === offset(1))
      assert(text(directory) === OffsetCodec.encode(offset(1)))
      assert(file().readOrWrite(fail("decided again")) === offset(1))
      val names = Files.list(directory).iterator.asScala.map(_.getFileName.toString)
      assert(names.filterNot(_.endsWith(".crc")).toSeq === Seq("initial-offset.json"))
    }
  }

  test("a second writer gets the decision of the first") {
    inDirectory { (directory, file) =>
      val second = file().readOrWrite {
        assert(file().readOrWrite(offset(1)) === offset(1)) // while the other one still decides
        offset(2)
      }
      assert(second === offset(1) && text(directory) === OffsetCodec.encode(offset(1)))
    }
  }

  test("a file that contains no offset is refused and left unchanged") {
    val texts = Seq("", "v1\n{\"orders\":{\"0\":1}}", OffsetCodec.encode(offset(1)).dropRight(3))
    texts.foreach { bad =>
      inDirectory { (directory, file) =>
        Files.createDirectories(directory)
        Files.write(directory.resolve("initial-offset.json"), bad.getBytes(UTF_8))
        val e = intercept[SourceException](file().readOrWrite(fail("decided again")))
        assert(e.condition === "KINESIS_OFFSET_UNREADABLE" && text(directory) === bad)
      }
    }
  }

  test("if the decision fails, nothing is stored") {
    inDirectory { (directory, file) =>
      assertThrows[IllegalStateException](file().readOrWrite(throw new IllegalStateException))
      assert(!Files.exists(directory.resolve("initial-offset.json")))
    }
  }
}
