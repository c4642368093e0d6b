package sparkkinesis.spark.once

import java.io.IOException
import java.nio.file.{AccessDeniedException, Files, Path => LocalPath}
import java.time.Instant

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.hdfs.CannotObtainBlockLengthException
import org.apache.hadoop.security.AccessControlException
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.TemporaryFolders
import sparkkinesis.sink.once.{OnceException, RowTotal}
import sparkkinesis.spark.LogTap
import sparkkinesis.spark.errors.ConnectorError

/** What the files beside a checkpoint tell about attempts. */
class AttemptLogSuite extends AnyFunSuite with TemporaryFolders {
  private val at = Instant.parse("2026-11-22T12:00:00Z")
  private val later = at.plusSeconds(60)

  private class Checkpoint {
    val folder: LocalPath = newFolder()
    Files.createDirectory(folder.resolve("offsets"))

    def plan(batch: Long, offsets: String): Unit = {
      Files.writeString(folder.resolve(s"offsets/$batch"), offsets)
      ()
    }

    /** The log as a driver sees it. */
    def log = new AttemptLog(new Path(folder.toString), new Configuration)

    /** The log on files that fail. */
    def odd = new AttemptLog(new Path(folder.toString), OddFiles.conf)

    def names: Seq[String] =
      folder.resolve("spark-kinesis-sink").toFile.list.toSeq.filterNot(_.startsWith(".")).sorted

    plan(1, "one")
    plan(2, "two")
  }

  test("a batch that begins again keeps its incarnation and the time of its first attempt") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    val again = checkpoint.log.begin(1, "stream", later)
    assert(first.run === 0 && again.run === 1)
    assert(again.incarnation === first.incarnation && again.since === at)
    assert(!checkpoint.log.isNewest(first) && checkpoint.log.isNewest(again))
  }

  test("the next batch is a first attempt with an incarnation of its own") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    val next = checkpoint.log.begin(2, "stream", later)
    assert(next.run === 0 && next.since === later)
    assert(next.incarnation !== first.incarnation)
  }

  test("a rewound checkpoint is a new incarnation") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    checkpoint.plan(1, "planned again, at another time")
    val planned = checkpoint.log.begin(1, "stream", later)
    checkpoint.log.begin(2, "stream", later)
    val rewound = checkpoint.log.begin(1, "stream", later)
    assert(planned.run === 0 && rewound.run === 0)
    assert(Set(first, planned, rewound).map(_.incarnation).size === 3)
  }

  test("another stream and a copied folder are new incarnations") {
    val (checkpoint, copy) = (new Checkpoint, new Checkpoint)
    val first = checkpoint.log.begin(1, "stream", at)
    Files.createDirectory(copy.folder.resolve("spark-kinesis-sink"))
    val name = s"spark-kinesis-sink/${first.fileName}"
    Files.copy(checkpoint.folder.resolve(name), copy.folder.resolve(name))
    var copied = first
    val warnings = heard { copied = copy.log.begin(1, "stream", later) }
    assert(warnings.size === 1 && warnings.head.contains("twice"))
    Seq(checkpoint, copy).foreach(it => assert(warnings.head.contains(it.folder.toString)))
    val other = checkpoint.log.begin(1, "other", later)
    assert(copied.run === 0 && other.run === 0)
    assert(Set(first, copied, other).map(_.incarnation).size === 3)
  }

  test("an incomplete file is an attempt that wrote nothing") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    val torn = checkpoint.folder.resolve("spark-kinesis-sink/000000000002-torn")
    Files.writeString(torn, first.text.take(40))
    val again = checkpoint.log.begin(1, "stream", later)
    assert(again.number === 3 && again.run === 1 && again.incarnation === first.incarnation)
  }

  test("a file that HDFS cannot read, as it was never closed, is one that wrote nothing") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    OddFiles.unclosed = "000000000002-open"
    val open = checkpoint.folder.resolve(s"spark-kinesis-sink/${OddFiles.unclosed}")
    Files.writeString(open, first.text)
    try {
      val again = checkpoint.odd.begin(1, "stream", later)
      assert(again.number === 3 && again.run === 1 && again.incarnation === first.incarnation)
    } finally OddFiles.unclosed = ""
  }

  test("of two drivers that begin at the same time, at most one writes; its rows are found") {
    val checkpoint = new Checkpoint
    var other = Option.empty[Attempt]
    OddFiles.beforeCreate = () => {
      OddFiles.beforeCreate = () => ()
      other = Some(checkpoint.log.begin(1, "stream", at))
    }
    val e = intercept[OnceException](checkpoint.odd.begin(1, "stream", at))
    assert(e.condition === OnceException.Fenced)
    assert(other.exists(!checkpoint.log.isNewest(_)))
    val again = checkpoint.log.begin(1, "stream", later)
    assert(again.number === 2 && again.run === 1)
    assert(other.map(_.incarnation) === Some(again.incarnation))
  }

  test(
    "of two first attempts, one that was found incomplete and is complete now is not forgotten"
  ) {
    val checkpoint = new Checkpoint
    val other = checkpoint.log.begin(1, "stream", at)
    val file = checkpoint.folder.resolve(s"spark-kinesis-sink/${other.fileName}")
    rewrite(file, other.text.take(40))
    OddFiles.beforeCreate = () => {
      OddFiles.beforeCreate = () => ()
      rewrite(file, other.text)
      assert(checkpoint.log.isNewest(other), "it begins to write")
    }
    val e = intercept[OnceException](checkpoint.odd.begin(1, "stream", at))
    assert(e.condition === OnceException.Fenced)
    val again = checkpoint.log.begin(1, "stream", later)
    assert(again.run === 1 && again.incarnation === other.incarnation, "its rows are found")
  }

  test("an attempt whose file is gone is not the newest") {
    val checkpoint = new Checkpoint
    val mine = checkpoint.log.begin(1, "stream", at)
    Files.delete(checkpoint.folder.resolve(s"spark-kinesis-sink/${mine.fileName}"))
    assert(!checkpoint.log.isNewest(mine))
  }

  test("a first batch that at-least-once may have begun is named in the log") {
    val checkpoint = new Checkpoint
    checkpoint.plan(0, "zero")
    assert(heard(checkpoint.log.begin(0, "stream", at)) === Nil)
    assert(heard(checkpoint.log.begin(1, "stream", at)) === Nil)
    assert(heard((new Checkpoint).log.begin(1, "stream", at)).map(_.take(7)) === Seq("Batch 1"))
  }

  test("a batch that at-least-once may have begun after others is named in the log") {
    val checkpoint = new Checkpoint
    checkpoint.plan(9, "nine")
    assert(heard(checkpoint.log.begin(1, "stream", at)).size === 1)
    assert(heard(checkpoint.log.begin(2, "stream", at)) === Nil)
    assert(heard(checkpoint.log.begin(1, "stream", at)) === Nil, "a checkpoint that was set back")
    val warnings = heard(checkpoint.log.begin(9, "stream", at))
    assert(warnings.size === 1 && warnings.head.contains("attempts, is 1. If batch 9"))
  }

  test("a batch that went to another stream meanwhile is the same when it is back") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    val mistake = checkpoint.log.begin(1, "other", later)
    val back = checkpoint.log.begin(1, "stream", later)
    assert(mistake.run === 0 && back.run === 1)
    assert(back.incarnation === first.incarnation && back.since === at)
  }

  test("a right that is missing is named, with the folder") {
    val denials = Seq(new AccessDeniedException("s3a://b/c"), new AccessControlException("no"))
    val calls = Seq("list files", "read files", "write files")
    for (denial <- denials; call <- calls) {
      val checkpoint = new Checkpoint
      checkpoint.log.begin(1, "stream", at)
      OddFiles.denied = Some(call -> denial)
      try {
        val e = intercept[OnceException](checkpoint.odd.begin(1, "stream", at))
        assert(e.condition === OnceException.LogFailed && e.getCause === denial)
        assert(e.getMessage.contains(s"sink $call in"))
        assert(e.getMessage.contains("list, read, write and delete"))
      } finally OddFiles.denied = None
    }
  }

  test("a listing that lacks the file just written is out of date, and names no other driver") {
    val checkpoint = new Checkpoint
    OddFiles.isStale = true
    try {
      val e = intercept[OnceException](checkpoint.odd.begin(1, "stream", at))
      assert(e.condition === OnceException.LogFailed && e.getMessage.contains("lists a new file"))
    } finally OddFiles.isStale = false
  }

  test("the schemes of S3 name one folder") {
    val places = Seq("s3", "s3a", "s3n").map(it => AttemptLog.place(new Path(s"$it://bucket/c")))
    assert(places.toSet === Set("s3a://bucket/c"))
    assert(AttemptLog.place(new Path("file:/s3:/c")) === "file:/s3:/c")
  }

  test("an old file that cannot be deleted does not fail the batch") {
    val checkpoint = new Checkpoint
    (1 to 15).foreach(_ => checkpoint.log.begin(1, "stream", at))
    OddFiles.refusesDeletes = true
    try {
      val warnings = LogTap.of(classOf[AttemptLog]) {
        assert(checkpoint.odd.begin(1, "stream", at).number === 16)
      }
      assert(warnings.nonEmpty)
    } finally OddFiles.refusesDeletes = false
    assert(checkpoint.names.size === 12)
  }

  test("a file system that is not shared is closed with the log") {
    val checkpoint = new Checkpoint
    val before = OddFiles.closed
    val log = checkpoint.odd
    log.begin(1, "stream", at)
    assert(OddFiles.closed === before)
    log.close()
    assert(OddFiles.closed === before + 1)
    val shared = checkpoint.log
    shared.close()
    shared.begin(1, "stream", at)
  }

  test("a batch write has a log of its own, and is committed once for its stream") {
    val checkpoint = new Checkpoint
    def log(id: String) =
      new AttemptLog(new Path(checkpoint.folder.toString), new Configuration, Some(id))
    val first = log("a").begin(0, "stream", at)
    val again = log("a").begin(0, "stream", later)
    assert(again.run === 1 && again.incarnation === first.incarnation && again.since === at)
    assert(log("b").begin(0, "other", at).run === 0)
    assert(checkpoint.log.begin(1, "stream", at).number === 1)
    assert(refusal(log("a").begin(0, "other", at)).contains("another stream"))
    assert(log("a").committed("stream") === None)
    log("a").commit(again, RowTotal(7, -9), later)
    val done = log("a").committed("stream")
    assert(done.map(it => it.at -> it.total) === Some(later -> RowTotal(7, -9)))
    assert(log("b").committed("other") === None)
    assert(refusal(log("a").committed("other")).contains("another stream"))
    val committed = checkpoint.folder.resolve("spark-kinesis-sink/write-a/committed")
    rewrite(committed, done.get.text.take(40))
    assert(log("a").committed("stream") === None, "a file that is incomplete says nothing")
    rewrite(committed, done.get.text)
    OddFiles.unclosed = "committed"
    val odd = new AttemptLog(new Path(checkpoint.folder.toString), OddFiles.conf, Some("a"))
    try assert(odd.committed("stream") === None, "nor does one that HDFS cannot read")
    finally OddFiles.unclosed = ""
    assert(odd.committed("stream") === done)
  }

  test("a batch write that goes on under another name of its folder is refused, with both names") {
    val checkpoint = new Checkpoint
    val link = newFolder().resolve("link")
    Files.createSymbolicLink(link, checkpoint.folder)
    def log(folder: LocalPath, id: String) =
      new AttemptLog(new Path(folder.toString), new Configuration, Some(id))
    log(checkpoint.folder, "a").begin(0, "stream", at)
    val message = refusal(log(link, "a").begin(0, "stream", later))
    Seq(checkpoint.folder, link).foreach(it => assert(message.contains(it.toString)))
    val folders = Seq(checkpoint.folder, link)
    val ids = folders.flatMap(it => Seq("a", "b").flatMap(log(it, _).uniqueId))
    assert(ids.toSet.size === 4 && ids.head.matches("a-[0-9a-f]{8}"))
    assert(log(link, "a").uniqueId === Some(ids(2)) && checkpoint.log.uniqueId === None)
  }

  test("a query whose commit Spark logs itself is never committed here") {
    val checkpoint = new Checkpoint
    checkpoint.log.commit(checkpoint.log.begin(1, "stream", at), RowTotal.Zero, later)
    assert(checkpoint.log.committed("stream") === None)
  }

  test("a batch whose offsets Spark has not logged is refused") {
    assert(refusal((new Checkpoint).log.begin(7, "stream", at)).contains("offsets of batch 7"))
  }

  /** Without the checksum, which Hadoop writes beside a file. */
  private def rewrite(file: LocalPath, text: String): Unit = {
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    Files.writeString(file, text)
    ()
  }

  private def refusal(body: => Any): String = {
    val e = intercept[ConnectorError](body)
    assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED")
    e.getMessage
  }

  test("old files are deleted") {
    val checkpoint = new Checkpoint
    (1 to 30).foreach(_ => checkpoint.log.begin(1, "stream", at))
    assert(checkpoint.names.size === 11)
  }

  /** The warnings of the log while the body runs. */
  private def heard(body: => Any): Seq[String] =
    LogTap.of(classOf[AttemptLog])(body).map(_.getMessage.getFormattedMessage)
}

/** Local files that fail as a store may. */
private[once] final class OddFiles extends LocalFileSystem {
  override def create(file: Path, overwrite: Boolean): FSDataOutputStream = {
    OddFiles.check("write files")
    OddFiles.beforeCreate()
    super.create(file, overwrite)
  }

  override def open(file: Path, buffer: Int): FSDataInputStream = {
    if (!file.toString.contains("/offsets/")) OddFiles.check("read files")
    if (file.getName == OddFiles.unclosed) throw new CannotObtainBlockLengthException("not closed")
    super.open(file, buffer)
  }

  override def listStatus(folder: Path): Array[FileStatus] = {
    OddFiles.check("list files")
    if (OddFiles.isStale) Array.empty else super.listStatus(folder)
  }

  override def delete(file: Path, recursive: Boolean): Boolean =
    if (OddFiles.refusesDeletes) throw new IOException("refused") else super.delete(file, recursive)

  override def close(): Unit = {
    OddFiles.closed += 1
    super.close()
  }
}

private[once] object OddFiles {
  var isStale = false
  var unclosed = ""
  var denied = Option.empty[(String, IOException)]

  private def check(call: String): Unit =
    denied.foreach { case (right, e) => if (right == call) throw e }

  var beforeCreate: () => Unit = () => ()
  var refusesDeletes = false
  var closed = 0

  def conf: Configuration = {
    val it = new Configuration
    it.set("fs.file.impl", classOf[OddFiles].getName)
    it.setBoolean("fs.file.impl.disable.cache", true)
    it
  }
}
