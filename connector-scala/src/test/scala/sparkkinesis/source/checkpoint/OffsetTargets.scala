package sparkkinesis.source.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen

import sparkkinesis.FuzzTargets.utf8
import sparkkinesis.shard.SourceException
import sparkkinesis.{FuzzTarget, Generators}

/** A text is an offset, which can be written again, or is refused. */
object OffsetTarget extends FuzzTarget {
  override val examples: Gen[Array[Byte]] =
    Generators.offset.map(offset => utf8(OffsetCodec.encode(offset)))

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
    try {
      val offset = OffsetCodec.decode(new String(bytes, UTF_8))
      val text = OffsetCodec.encode(offset)
      assert(OffsetCodec.decode(text) == offset && !text.contains('\n'), text)
    } catch { case _: SourceException => () }
}

/** A file of Spark's offset log, with any offsets, is read or refused. */
object OffsetLogTarget extends FuzzTarget {
  override val examples: Gen[Array[Byte]] = for {
    offsets <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, Generators.offset.map(OffsetCodec.encode)))
    isNamed <- Gen.oneOf(true, false)
    lines = offsets.zipWithIndex.map { case (it, i) => if (isNamed) s"source$i:$it" else it }
  } yield utf8((Seq(if (isNamed) "v2" else "v1", "{}") ++ lines :+ "-").mkString("\n"))

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
    try {
      val log = LoggedOffsets.parse("/checkpoint", "offsets/7", new String(bytes, UTF_8))
      log.own.foreach { source =>
        try log.of(source): Unit
        catch { case _: SourceException => () }
      }
    } catch { case _: SourceException => () }
}
