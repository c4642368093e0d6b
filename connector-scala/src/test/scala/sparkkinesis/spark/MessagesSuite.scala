package sparkkinesis.spark

import java.io.InvalidClassException
import java.net.URL

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sparkkinesis.Messages

class MessagesSuite extends AnyFunSuite {
  test("a message is the same after its way, with collections, times and options") {
    val message = (Vector(1L, 2L), Map("a" -> Some(java.time.Instant.EPOCH)), Array[Byte](1, 2))
    val (numbers, times, bytes) =
      Messages
        .decode[(Vector[Long], Map[String, Option[Any]], Array[Byte])](Messages.encode(message))
    assert((numbers, times, bytes.toSeq) === ((message._1, message._2, message._3.toSeq)))
  }

  test("an object of a class that no message has is refused before it exists") {
    val foreign = Some(new URL("http://127.0.0.1"))
    val e = intercept[InvalidClassException](Messages.decode[Any](Messages.encode(foreign)))
    assert(e.getMessage.contains("REJECTED"))
  }
}
