package sparkkinesis.spark.once

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen

import sparkkinesis.FuzzTarget
import sparkkinesis.FuzzTargets.utf8

/** A file of the sink's log is read, and can be written again, or is incomplete. */
object AttemptTarget extends FuzzTarget {
  override val examples: Gen[Array[Byte]] = Gen
    .oneOf(
      Attempt.lines(7, "content", "folder", "incarnation", 1, 1700000000123L, "owner"),
      Attempt.lines("content", 1700000000123L, 12, -34)
    )
    .map(utf8)

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
    val text = new String(bytes, UTF_8)
    Attempt.parse(7, text).foreach(it => assert(Attempt.parse(7, it.text).contains(it), text))
    CompletedWrite.parse(text).foreach(it => assert(CompletedWrite.parse(it.text).contains(it)))
    Attempt.numberOf(text): Unit
  }
}
