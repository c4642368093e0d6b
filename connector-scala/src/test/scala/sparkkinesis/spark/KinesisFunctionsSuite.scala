package sparkkinesis.spark

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction
import org.apache.spark.sql.types.{DataType, NullType, StructType}
import org.apache.spark.unsafe.types.UTF8String

class KinesisFunctionsSuite extends AnyFunSuite {
  private val catalog = new KinesisFunctions

  private def bound(name: String, types: DataType*) = {
    val arguments = types.foldLeft(new StructType)((it, kind) => it.add(s"_${it.size}", kind))
    val function = catalog.loadFunction(Identifier.of(Array.empty, name)).bind(arguments)
    function.asInstanceOf[ScalarFunction[Any]]
  }

  test("the functions are in no namespace") {
    val found = catalog.listFunctions(Array.empty).map(_.name).toSet
    assert(found === Set("inflate", "split_json", "dynamodb_json", "check_avro"))
    assert(catalog.listFunctions(Array("other")).isEmpty)
  }

  test("a NULL without a type is no data") {
    val reason = UTF8String.fromString("NO_DATA")
    Seq("inflate", "dynamodb_json").foreach { name =>
      val function = bound(name, NullType)
      assert(function.produceResult(InternalRow(null)) === InternalRow(null, reason))
    }
    val check = bound("check_avro", NullType, NullType)
    assert(check.produceResult(InternalRow(null, null)) === reason)
  }
}
