package sparkkinesis.simulator.journal

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.Arrays

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.simulator.operation.{CreateStream, DeleteStream, PutRecord}
import sparkkinesis.simulator.service.JournalException
import sparkkinesis.simulator.state.StatePropertySuite.{Arn, Start}

/** Files that were torn, damaged, or never ours. */
final class JournalFileSuite extends AnyFunSuite {
  import JournalFixture._

  private val HeadBytes = 12

  test("an entry that is truncated anywhere is ignored, and writing continues") {
    inDirectory { directory =>
      val file = directory.resolve("journal")
      val first = withJournal(directory)((journal, state) =>
        append(journal, state, CreateStream(Arn, 1), Start)
      )
      val begin = Files.size(file).toInt
      withJournal(directory)((journal, state) =>
        append(journal, state, PutRecord(Arn, entry("torn")), Start)
      )
      val whole = Files.readAllBytes(file)
      (begin until whole.length).foreach { end =>
        Files.write(file, Arrays.copyOf(whole, end))
        val said = warnings(directory)
        val tail = Arrays.copyOfRange(whole, entries(whole, begin).filter(_ <= end).last, end)
        assert(said.size == (if (tail.isEmpty) 0 else 1))
        said.foreach { warning =>
          assert(warning.contains(s"${tail.length} bytes"))
          assert(Files.readAllBytes(directory.resolve("journal.torn")).sameElements(tail))
        }
        val after = withJournal(directory) { (journal, state) =>
          assert(told(state) == told(first))
          append(journal, state, PutRecord(Arn, entry("next")), Start)
        }
        withJournal(directory)((_, state) => assert(told(state) == told(after)))
      }
    }
  }

  test("a wrong bit anywhere in an entry's header is damage, wherever the entry is") {
    inDirectory { directory =>
      val file = directory.resolve("journal")
      withJournal(directory)((_, _) => ())
      val begin = Files.size(file).toInt
      withJournal(directory) { (journal, state) =>
        enact(journal, state, Vector(CreateStream(Arn, 1), DeleteStream(Arn)).map(always))
      }
      val whole = Files.readAllBytes(file)
      for {
        head <- entries(whole, begin).init
        bit <- 0 until HeadBytes * 8
      } {
        val damaged = whole.clone
        damaged(head + bit / 8) = (damaged(head + bit / 8) ^ (1 << bit % 8)).toByte
        Files.write(file, damaged)
        val said = intercept[JournalException](withJournal(directory)((_, _) => ()))
        assert(said.getMessage.contains(s"damaged at byte $head:"))
        assert(Files.readAllBytes(file).sameElements(damaged))
      }
    }
  }

  test("a journal whose first line is truncated anywhere is empty") {
    inDirectory { directory =>
      val file = directory.resolve("journal")
      withJournal(directory)((_, _) => ())
      val line = Files.readAllBytes(file).takeWhile(_ != '\n')
      (0 to line.length).foreach { end =>
        Files.write(file, line.take(end))
        withJournal(directory)((_, state) => assert(state.streams.isEmpty))
      }
    }
  }

  test("damage before the end is an error that names the position, and changes nothing") {
    inDirectory { directory =>
      val file = directory.resolve("journal")
      withJournal(directory) { (journal, state) =>
        enact(journal, state, Vector(CreateStream(Arn, 1), DeleteStream(Arn)).map(always))
      }
      val damaged = Files.readAllBytes(file)
      damaged(40) = (damaged(40) ^ 1).toByte
      Files.write(file, damaged)
      val said = intercept[JournalException](withJournal(directory)((_, _) => ()))
      assert(said.getMessage.contains("damaged at byte 24"))
      assert(Files.readAllBytes(file).sameElements(damaged))
    }
  }

  /** The start of each entry and of the next one to write. The first entry starts at `begin`. */
  private def entries(whole: Array[Byte], begin: Int): Vector[Int] = Iterator
    .iterate(begin)(at => at + HeadBytes + ByteBuffer.wrap(whole).getInt(at))
    .takeWhile(_ < whole.length)
    .toVector :+ whole.length

  /** The warnings of a start. */
  private def warnings(directory: Path): Vector[String] = {
    val said = Vector.newBuilder[String]
    Using.resource(FileJournal.open(directory, said += _))(_.restored(settings))
    said.result()
  }

  private val foreign = Seq(
    "something else" -> "not a journal",
    "spark-kinesis journal 2\n..." -> "has the format 2"
  )

  foreign.foreach { case (content, message) =>
    test(s"a file that begins '${content.linesIterator.next()}' is refused and left unchanged") {
      inDirectory { directory =>
        val file = Files.write(directory.resolve("journal"), content.getBytes(UTF_8))
        val said = intercept[JournalException](withJournal(directory)((_, _) => ()))
        assert(said.getMessage.contains(message) && said.getMessage.contains(file.toString))
        assert(Files.readString(file) == content)
      }
    }
  }

  test("a directory that is in use, and a path that is no directory, are refused") {
    inDirectory { directory =>
      withJournal(directory) { (_, _) =>
        val said = intercept[JournalException](FileJournal.open(directory))
        assert(said.getMessage.contains("in use"))
      }
      val said = intercept[JournalException](FileJournal.open(directory.resolve("journal")))
      assert(said.getMessage.contains("cannot be opened"))
    }
  }
}
