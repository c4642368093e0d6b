package sparkkinesis.spark.payload

import java.io.{ByteArrayOutputStream, OutputStream}
import java.util.zip.{DeflaterOutputStream, GZIPOutputStream}

import com.github.luben.zstd.ZstdOutputStream
import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite
import org.xerial.snappy.{SnappyFramedOutputStream, SnappyOutputStream}

import sparkkinesis.Properties

class InflateSuite extends AnyFunSuite with Properties {
  import InflateSuite._

  Formats.foreach { case (name, compressed) =>
    test(s"$name: the result is what was compressed, up to the largest size") {
      forAll(content) { bytes =>
        val data = compressed(bytes)
        assert(Inflate(data, bytes.length max 1).map(_.toSeq) === Right(bytes.toSeq))
        assert(Inflate.ifCompressed(data, bytes.length max 1).map(_.toSeq) === Right(bytes.toSeq))
        if (bytes.length > 1) {
          val limit = bytes.length - 1
          assert(Inflate(data, limit) === Left(s"TOO_LARGE: more than $limit bytes"))
        }
      }
    }

    test(s"$name: data without their end, or with other bytes behind it, are damaged") {
      forAll(content, Gen.choose(0.0, 1.0)) { (bytes, part) =>
        val data = compressed(bytes)
        val end = (data.length * part).toInt min (data.length - 1)
        val cut = Inflate(data.take(end), Limit)
        // A container of Snappy may end behind each of its chunks.
        if (name.startsWith("snappy")) assert(cut.forall(it => bytes.startsWith(it)))
        else assert(cut.swap.exists(Set("NOT_COMPRESSED", s"DAMAGED: $name")))
        assert(Inflate(data ++ "{}".getBytes, Limit).isLeft)
      }
    }

    test(s"$name: a changed byte gives another result or a reason, and no error") {
      forAll(content, Gen.choose(0.0, 0.999), Arbitrary.arbitrary[Byte]) { (bytes, place, byte) =>
        val data = compressed(bytes)
        data((data.length * place).toInt) = byte
        Inflate(data, Limit): Unit
      }
    }
  }

  test("a series of compressed data is one result, and a cut after the first is damage") {
    Seq("gzip", "zstd").foreach { name =>
      val first = Formats(name)("one".getBytes)
      val twice = first ++ Formats(name)("two".getBytes)
      assert(Inflate(twice, Limit).map(new String(_)) === Right("onetwo"))
      (first.length + 1 until twice.length).foreach { end =>
        assert(Inflate(twice.take(end), Limit) === Left(s"DAMAGED: $name"), end)
      }
    }
  }

  test("a megabyte of empty parts does not overflow the stack") {
    Seq("gzip", "zstd").foreach { name =>
      val empty = Formats(name)(Array())
      val data = Array.fill((1 << 20) / empty.length)(empty).flatten
      assert(Inflate(data, Limit).map(_.toSeq) === Right(Seq()))
    }
  }

  test("gzip: the optional parts of a header are skipped") {
    val data = Formats("gzip")("content".getBytes)
    val optional =
      Array[Byte](2, 0, 0, 1) ++ "name\u0000comment\u0000".getBytes ++ Array[Byte](9, 9)
    data(3) = 0x1e
    val (fixed, rest) = data.splitAt(10)
    val full = fixed ++ optional ++ rest
    assert(Inflate(full, Limit).map(new String(_)) === Right("content"))
    full.indices.drop(2).foreach(end => assert(Inflate(full.take(end), Limit).isLeft, end))
  }

  test("zstd: frames that readers skip are skipped, and blocks of one byte are counted") {
    val skippable = Array[Byte](0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3)
    val frame = Formats("zstd")(Array.fill(200000)('a'.toByte))
    val found = Inflate(frame ++ skippable ++ frame, Limit)
    assert(found.map(_.length) === Right(400000))
    assert(Inflate(frame ++ skippable.dropRight(1), Limit) === Left("DAMAGED: zstd"))
  }

  test("other data have no format") {
    val texts = Seq("", "x", "{}", "xyz", "plain text", "x 1234", "x?", "x}", "x ")
    texts.map(_.getBytes).foreach { data =>
      assert(Inflate(data, Limit) === Left("NOT_COMPRESSED"))
      assert(Inflate.ifCompressed(data, Limit) === Right(data))
    }
  }

  test("a few bytes that claim to contain gigabytes take no memory") {
    Seq[Byte](7, 15).foreach { last => // the varints of 2^31 - 1 and 2^32 - 1
      val claim = Array[Byte](-1, -1, -1, -1, last)
      val block = Array[Byte](0, 0, 0, 5) ++ claim
      val chunk = Array[Byte](0, 9, 0, 0, 0, 0, 0, 0) ++ claim
      assert(Inflate(Formats("snappy")(Array()).take(16) ++ block, Limit).isLeft)
      assert(Inflate(Formats("snappy frames")(Array()).take(10) ++ chunk, Limit).isLeft)
    }
  }

  test("a wrong checksum of a chunk is noticed") {
    val data = Formats("snappy frames")("some content".getBytes)
    data(14) = (data(14) + 1).toByte // its first byte
    assert(Inflate(data, Limit) === Left("DAMAGED: snappy"))
  }
}

object InflateSuite {
  private val Limit = 1 << 20

  private val content: Gen[Array[Byte]] = Gen.oneOf(
    Gen.containerOf[Array, Byte](Arbitrary.arbitrary[Byte]),
    Gen.choose(0, 200000).map(Array.fill[Byte](_)('a'))
  )

  private[payload] val Formats: Map[String, Array[Byte] => Array[Byte]] = Map(
    "gzip" -> written(new GZIPOutputStream(_)),
    "zlib" -> written(new DeflaterOutputStream(_)),
    "zstd" -> written(new ZstdOutputStream(_).setChecksum(true)),
    "snappy" -> written(new SnappyOutputStream(_)),
    "snappy frames" -> written(new SnappyFramedOutputStream(_))
  )

  private def written(open: OutputStream => OutputStream)(content: Array[Byte]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val stream = open(bytes)
    stream.write(content)
    stream.close()
    bytes.toByteArray
  }
}
