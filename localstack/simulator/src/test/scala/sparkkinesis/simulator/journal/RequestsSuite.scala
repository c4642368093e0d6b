package sparkkinesis.simulator.journal

import java.io.ByteArrayOutputStream

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.ConsumerRef
import sparkkinesis.model.{ConsumerArn, HashKey, PutEntry}
import sparkkinesis.simulator.http.request.Requests
import sparkkinesis.simulator.operation.{
  Changing,
  DeleteStream,
  DeregisterStreamConsumer,
  Operation,
  PutRecord
}
import sparkkinesis.simulator.state.StatePropertySuite.Arn

/** A written operation is read as the same operation. */
final class RequestsSuite extends AnyFunSuite {

  /** Beside the samples, which succeed one after the other: what need not. */
  private val operations: Vector[Changing[Any]] = JournalFixture.samples ++ Vector(
    PutRecord(Arn, PutEntry("", Array[Byte](1, 2), Some(HashKey.Max))),
    DeregisterStreamConsumer(ConsumerRef.ByArn(ConsumerArn(Arn, "me", 1767225600L)))
  )

  private def kept(operation: Changing[Any]): Operation[Any] = {
    val bytes = new ByteArrayOutputStream
    val out = Requests.generator(bytes)
    Requests.write(operation, out)
    out.close()
    Requests.read(operation.name, Requests.parse(bytes.toByteArray))
  }

  /** Arrays are equal by what is in them. */
  private def plain(value: Any): Any = value match {
    case bytes: Array[Byte] => bytes.toSeq
    case values: Seq[_] => values.map(plain)
    case product: Product => product.productPrefix +: product.productIterator.map(plain).toSeq
    case other => other
  }

  operations.zipWithIndex.foreach { case (operation, i) =>
    test(s"$i: ${operation.name} is read as it was written") {
      assert(plain(kept(operation)) == plain(operation))
    }
  }

  test("each field with a default has another value in at least one of these operations") {
    val forgotten = for {
      (kind, all) <- operations.groupBy(_.getClass: Class[_]).toVector
      field <- 1 to all.head.productArity
      default <- defaultOf(kind, field)
      if all.forall(_.productElement(field - 1) == default)
    } yield s"${kind.getSimpleName}.${all.head.productElementName(field - 1)}"
    assert(forgotten.isEmpty, "Add an operation above.")
    assert(defaultOf(classOf[DeleteStream], 2).contains(false))
  }

  /** @param field from 1 */
  private def defaultOf(kind: Class[_], field: Int): Option[Any] = {
    val companion = Class.forName(s"${kind.getName}$$")
    Try(companion.getMethod(s"apply$$default$$$field")).toOption.map { default =>
      default.invoke(companion.getField("MODULE$").get(null))
    }
  }
}
