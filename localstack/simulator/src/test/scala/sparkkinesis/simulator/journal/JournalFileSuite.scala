package sparkkinesis.simulator.journal

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.util.Arrays

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.simulator.StatePropertySuite.{Arn, Start}
import sparkkinesis.simulator._

/** Files that were torn, damaged, or never ours. */
final class JournalFileSuite extends AnyFunSuite {
  import JournalFixture._

  test("an entry torn anywhere is left out, and writing goes on") {
    inDirectory { directory =>
      val file = directory.resolve("journal")
      val first = withJournal(directory)((journal, state) =>
        keep(journal, state, CreateStream(Arn, 1), Start)
      )
      val begin = Files.size(file).toInt
      withJournal(directory)((journal, state) =>
        keep(journal, state, PutRecord(Arn, entry("torn")), Start)
      )
      val whole = Files.readAllBytes(file)
      (begin until whole.length).foreach { end =>
        Files.write(file, Arrays.copyOf(whole, end))
        val after = withJournal(directory) { (journal, state) =>
          assert(told(state) == told(first))
          keep(journal, state, PutRecord(Arn, entry("next")), Start)
        }
        withJournal(directory)((_, state) => assert(told(state) == told(after)))
      }
    }
  }

  test("a first line torn anywhere is an empty journal") {
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

  test("damage before the end is an error that names the place, and changes nothing") {
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

  private val foreign = Seq(
    "something else" -> "no journal",
    "spark-kinesis journal 2\n..." -> "has the format 2"
  )

  foreign.foreach { case (content, message) =>
    test(s"a file that begins '${content.linesIterator.next()}' is refused and left alone") {
      inDirectory { directory =>
        val file = Files.write(directory.resolve("journal"), content.getBytes(UTF_8))
        val said = intercept[JournalException](withJournal(directory)((_, _) => ()))
        assert(said.getMessage.contains(message) && said.getMessage.contains(file.toString))
        assert(Files.readString(file) == content)
      }
    }
  }

  test("a directory in use, and one that is none, are refused") {
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
