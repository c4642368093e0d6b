package sparkkinesis.spark.deadletter

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => JPath}
import java.util.Base64

import scala.jdk.CollectionConverters._
import scala.util.Random

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.util.SerializableConfiguration

import sparkkinesis.TemporaryFolders
import sparkkinesis.spark.errors.ConnectorError

class DeadLetterSuite extends AnyFunSuite with TemporaryFolders with ScalaCheckPropertyChecks {
  private val random = new Random(5)

  private val letter = DeadLetter(
    Some("orders"),
    Some(7),
    "LONG_PARTITION_KEY",
    "column 'partitionKey' \"has\" 257",
    Some(Array[Byte](0, -1, 10)),
    Some("ключ\n"),
    None
  )
  private val emptyLetter = letter.copy(stream = None, row = None, data = None, partitionKey = None)

  private class Fixture(scheme: String = "trip") {
    val root: JPath = newFolder()
    val folder: DeadLetterFolder = DeadLetterFolder(
      s"$scheme://$root/kept",
      "q",
      new SerializableConfiguration(TrippingFileSystem.conf)
    )

    def attempt(batch: Option[Long], partition: Int): DeadLetterFile =
      new DeadLetterFile(folder, batch, partition, random)

    /** Runs an attempt that writes one row and commits. */
    def written(batch: Long, partition: Int, said: String): WriterCommitMessage = {
      val file = attempt(Some(batch), partition)
      file.add(letter.copy(message = said))
      DeadLetterCommit.message(file.commit())
    }

    def publish(batch: Long, messages: WriterCommitMessage*): Unit =
      new DeadLetterCommit(folder, Some(batch)).publish(messages.toArray)

    /** Files that readers see, below the root. */
    def seen: Seq[String] = files.filterNot(_.contains("_staging"))

    def files: Seq[String] = {
      val all = Files.walk(root)
      try all.iterator.asScala.filter(Files.isRegularFile(_)).map(root.relativize(_).toString).toSeq
      finally all.close()
    }

    def text(file: String): String = new String(Files.readAllBytes(root.resolve(file)), UTF_8)

    /** The messages of the rows that readers see. */
    def messages: Seq[String] = seen.flatMap(text(_).linesIterator).map { line =>
      new ObjectMapper().readTree(line).get("message").textValue
    }
  }

  test("JSON has one line per row, with nulls and Base64") {
    val it = new Fixture
    val file = it.attempt(Some(3), 2)
    file.add(letter)
    file.add(emptyLetter)
    it.publish(3, DeadLetterCommit.message(file.commit()))
    assert(it.seen.size === 1)
    val name = it.seen.head
    assert(name.matches("kept/queryId=q/batchId=3/part-00002-[0-9a-f]{16}\\.json"))
    val lines = it.text(name).linesIterator.map(new ObjectMapper().readTree(_)).toSeq
    assert(lines.size === 2)
    val (first, second) = (lines.head, lines.last)
    assert(
      first.fieldNames.asScala.toSeq === Seq("stream", "partitionId", "row", "reason", "message") ++
        Seq("data", "partitionKey", "explicitHashKey", "attempts", "mayBeWritten")
    )
    assert(first.get("partitionId").intValue === 2 && first.get("row").longValue === 7)
    assert(first.get("message").textValue === letter.message)
    assert(Base64.getDecoder.decode(first.get("data").textValue) === letter.data.get)
    assert(first.get("partitionKey").textValue === "ключ\n")
    assert(Seq("stream", "row", "data", "partitionKey").forall(second.get(_).isNull))
  }

  test("readers see nothing before the batch is done, and then only the attempts that count") {
    val it = new Fixture
    val counts = it.written(0, 1, "counts")
    it.written(0, 1, "a copy that came late")
    val killed = it.attempt(Some(0), 4)
    killed.add(letter)
    assert(it.seen.isEmpty && it.files.size === 3)
    it.publish(0, null, counts, null)
    assert(it.messages === Seq("counts"))
    assert(it.files === it.seen, "staging is empty")
  }

  test("an aborted attempt leaves no file, and an aborted batch leaves none") {
    val it = new Fixture
    it.written(0, 1, "done")
    val file = it.attempt(Some(0), 0)
    file.add(letter)
    file.abort()
    file.abort()
    assert(it.files.size === 1)
    new DeadLetterCommit(it.folder, Some(0L)).abort()
    assert(it.files.isEmpty)
  }

  test(
    "a batch that runs again replaces its published files, even if it has no bad rows any more"
  ) {
    val it = new Fixture
    it.publish(0, it.written(0, 0, "other batch"))
    it.publish(1, it.written(1, 0, "a"), it.written(1, 1, "b"))
    it.publish(1, it.written(1, 1, "c"))
    assert(it.messages.toSet === Set("other batch", "c"))
    it.publish(1)
    assert(it.messages === Seq("other batch"))
  }

  test(
    "without bad rows a task does not call the file system, and the driver calls it at most once"
  ) {
    val it = new Fixture
    val task = TrippingFileSystem.calls() {
      val file = it.attempt(Some(0), 0)
      assert(file.commit() === None && DeadLetterCommit.message(None) === null)
      it.attempt(Some(0), 0).abort()
    }
    assert(task.isEmpty)
    assert(TrippingFileSystem.calls()(it.publish(0, null, null)) === Seq("delete"))
    val batch = TrippingFileSystem.calls() {
      new DeadLetterCommit(it.folder, None).publish(Array(null))
    }
    assert(batch.isEmpty)
  }

  test("wherever publishing fails, a batch that runs again leaves each row once") {
    def republish(failAfter: Option[Int]): (Fixture, Seq[String]) = {
      val it = new Fixture
      it.publish(0, it.written(0, 0, "before"))
      val publish = () => it.publish(0, it.written(0, 0, "a"), it.written(0, 1, "b"))
      val calls = TrippingFileSystem.calls(failAfter) {
        if (failAfter.isEmpty) publish()
        else {
          val e = intercept[ConnectorError](publish())
          assert(e.getCondition === "KINESIS_DEAD_LETTERS_UNWRITABLE")
          publish()
        }
      }
      (it, calls)
    }
    val (_, calls) = republish(None)
    assert(calls.count(_ == "rename") === 3)
    calls.indices.foreach { failAt =>
      val (it, _) = republish(Some(failAt))
      assert(it.messages.sorted === Seq("a", "b"), s"after a failure of ${calls(failAt)}")
      assert(it.files === it.seen)
    }
  }

  /** The files of a batch write. */
  private def batchFiles(it: Fixture): Array[WriterCommitMessage] = Array(0, 1).map { partition =>
    val file = it.attempt(None, partition)
    file.add(letter.copy(message = s"$partition"))
    DeadLetterCommit.message(file.commit())
  }

  /** A batch write to a store that copies. Returns the calls of its publication. */
  private def published(failAfter: Option[Int]): (Fixture, Seq[String]) = {
    val it = new Fixture(scheme = "copy")
    val messages = batchFiles(it)
    val commit = new DeadLetterCommit(it.folder, None)
    val calls = TrippingFileSystem.calls(failAfter) {
      if (failAfter.isEmpty) commit.publish(messages)
      else intercept[ConnectorError](commit.publish(messages))
    }
    (it, calls)
  }

  test("on a store that copies, a batch write whose publication fails leaves no file to readers") {
    val (done, calls) = published(None)
    assert(done.messages.sorted === Seq("0", "1") && calls.count(_ == "copy") === 2)
    calls.indices.foreach { failAt =>
      val (it, _) = published(Some(failAt))
      assert(it.seen === Nil, s"after a failure of ${calls(failAt)}, number $failAt")
    }
  }

  test("a publication that is interrupted leaves no file to readers, and the interrupt stays") {
    val (_, calls) = published(None)
    TrippingFileSystem.interrupting {
      val (it, _) = published(Some(calls.lastIndexOf("copy")))
      assert(Thread.interrupted() && it.seen === Nil)
    }
  }

  test("in foreachBatch, each write replaces its files of an earlier run of the batch") {
    val it = new Fixture
    def publish(queryId: String): Unit = new DeadLetterCommit(it.folder, None)
      .publish(batchFiles(it), Some(EnclosingBatch(queryId, 7)))
    Seq("q1", "q1-2", "q1", "q1-2").foreach(publish)
    assert(it.messages.sorted === Seq("0", "0", "1", "1"))
    assert(it.seen.forall(_.matches("kept/queryId=q1(-2)?/batchId=7/part-.*")))
    new DeadLetterCommit(it.folder, None).publish(Array(null), Some(EnclosingBatch("q1", 7)))
    assert(it.seen.size === 2)
  }

  test("a batch write with a name replaces its files of an earlier run, also if it has none") {
    val it = new Fixture
    val commit = new DeadLetterCommit(it.folder.copy(name = Some("nightly")), None)
    (1 to 2).foreach(_ => commit.publish(batchFiles(it)))
    assert(it.messages.sorted === Seq("0", "1"))
    assert(it.seen.forall(_.startsWith("kept/queryId=nightly/")))
    commit.publish(Array(null))
    assert(it.seen === Nil)
  }

  test("of two runs of a batch write, the one that fails does not delete the files of the other") {
    val it = new Fixture
    val runs = Seq("u1", "u2").map(id => it.folder.copy(queryId = id, name = Some("job-1a2b")))
    val messages = runs.map { run =>
      val file = new DeadLetterFile(run, None, 0, random)
      file.add(letter.copy(message = run.queryId))
      DeadLetterCommit.message(file.commit())
    }
    new DeadLetterCommit(runs.last, None).abort()
    new DeadLetterCommit(runs.head, None).publish(messages.take(1).toArray)
    assert(it.messages === Seq("u1"))
    assert(it.seen.forall(_.startsWith("kept/queryId=job-1a2b/")))
  }

  test("for any attempts, exactly the rows of those that count are visible, each once") {
    forAll(minSuccessful(30)) { (seed: Long) =>
      val (chance, it) = (new Random(seed), new Fixture)
      (0 to chance.nextInt(3)).foreach { run =>
        val partitions = (0 until 3).filter(_ => chance.nextBoolean())
        val counting = partitions.map { partition =>
          val attempts = Seq.tabulate(1 + chance.nextInt(3)) { n =>
            val said = s"$run-$partition-$n"
            said -> it.written(0, partition, said)
          }
          attempts(chance.nextInt(attempts.size))
        }
        it.publish(0, counting.map(_._2): _*)
        assert(it.messages.sorted === counting.map(_._1).sorted)
      }
    }
  }

  test("a path that cannot be written to is refused, and the error has the path and the remedy") {
    val it = new Fixture
    Files.write(it.root.resolve("kept"), Array[Byte](1))
    val early = intercept[ConnectorError](it.folder.check())
    assert(early.getCondition === "KINESIS_DEAD_LETTERS_UNWRITABLE")
    assert(early.getMessage.contains(s"${it.root}/kept (option 'deadLetterPath')"))
    assert(
      early.getMessage.contains("is a file") && early.getMessage.contains(
        "Set the option to a folder"
      )
    )
    val late = intercept[ConnectorError](it.attempt(Some(0), 0).add(letter))
    assert(late.getCondition === "KINESIS_DEAD_LETTERS_UNWRITABLE")
  }

  test("messages are serializable, and a task's message has only classes of Spark") {
    val it = new Fixture
    val bytes = new java.io.ByteArrayOutputStream
    val out = new java.io.ObjectOutputStream(bytes)
    out.writeObject(it.written(0, 0, "x"))
    out.flush()
    assert(!bytes.toString("ISO-8859-1").contains("sparkkinesis"))
    out.writeObject(it.folder)
    assert(new File(it.root.toString).exists)
  }
}
