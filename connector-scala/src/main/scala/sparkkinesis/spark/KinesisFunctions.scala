package sparkkinesis.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.connector.catalog.functions.{
  BoundFunction,
  ScalarFunction,
  UnboundFunction
}
import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier}
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.spark.payload.{Avro, Inflate, Json, Reason}

/**
 * A catalog that has functions for payloads, and no tables. In a session whose setting
 * `spark.sql.catalog.kinesis_payloads` is the name of this class, they are
 * `kinesis_payloads.inflate(data)` and so on. The catalog hides a database of the same name.
 */
class KinesisFunctions extends FunctionCatalog {
  import KinesisFunctions._

  private var catalog = ""

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = catalog = name

  override def name(): String = catalog

  override def listFunctions(namespace: Array[String]): Array[Identifier] =
    if (namespace.isEmpty) All.map(it => Identifier.of(namespace, it.name)).toArray
    else Array.empty

  override def loadFunction(function: Identifier): UnboundFunction =
    All
      .find(it => function.namespace.isEmpty && it.name.equalsIgnoreCase(function.name))
      .getOrElse(throw new NoSuchFunctionException(function))
}

private object KinesisFunctions {
  private val Data = Parameter("data", BinaryType)
  private val MaxBytes = Parameter("maxBytes", IntegerType, optional = true)

  private val All = Seq(
    PayloadFunction("inflate", Seq(Data, MaxBytes), outcomeOf(BinaryType)) { values =>
      outcome(values.data(0).flatMap(Inflate(_, values.maxBytes(1))))
    },
    PayloadFunction("split_json", Seq(Data, MaxBytes), arrayOf(outcomeOf(StringType))) { values =>
      val found = values.data(0).flatMap(Inflate.ifCompressed(_, values.maxBytes(1)))
      val objects = found.fold(reason => Seq(Left(reason)), Json.split)
      ArrayData.toArrayData(objects.map(it => outcome(it.map(UTF8String.fromString))).toArray[Any])
    },
    PayloadFunction("dynamodb_json", Seq(Parameter("record", StringType)), outcomeOf(StringType)) {
      values => outcome(values.text(0).flatMap(Json.ofDynamoDb).map(UTF8String.fromString))
    },
    PayloadFunction(
      "check_avro",
      Seq(Data, Parameter("schema", StringType), Parameter("reader", StringType, optional = true)),
      StringType
    ) { values =>
      val problem = for {
        data <- values.data(0)
        writer <- values.text(1)
        reader <- if (values.count > 2) values.text(2) else Right(writer)
        _ <- Avro.problem(data, writer, reader).toLeft(())
      } yield ()
      problem.fold(UTF8String.fromString, _ => null)
    }
  )

  /** A struct of a value and the reason why there is none: one of the two is null. */
  private def outcomeOf(value: DataType) =
    new StructType().add("value", value).add("reason", StringType)

  private def arrayOf(element: DataType) = ArrayType(element, containsNull = false)

  private def outcome(found: Either[Reason, Any]): InternalRow =
    found.fold(reason => InternalRow(null, UTF8String.fromString(reason)), InternalRow(_, null))

  private final case class Parameter(name: String, kind: DataType, optional: Boolean = false) {

    /** Binary data may be a string, which is taken as UTF-8. */
    def accepts(argument: DataType): Boolean = argument match {
      case _: StringType => kind != IntegerType
      case NullType => true
      case other => other == kind
    }

    override def toString: String = if (optional) s"[$name ${kind.sql}]" else s"$name ${kind.sql}"
  }

  private final case class PayloadFunction(
      name: String,
      parameters: Seq[Parameter],
      result: DataType
  )(val body: Values => Any)
      extends UnboundFunction {

    override def bind(arguments: StructType): BoundFunction = {
      val types = arguments.fields.map(_.dataType).toSeq
      val fits = types.size >= parameters.count(!_.optional) && types.size <= parameters.size &&
        parameters.zip(types).forall { case (parameter, it) => parameter.accepts(it) }
      if (!fits) {
        val found = types.map(_.sql).mkString(", ")
        throw new UnsupportedOperationException(s"$description does not accept ($found)")
      }
      BoundPayloadFunction(this, types)
    }

    override def description: String = parameters.mkString(s"$name(", ", ", ")")
  }

  private final case class BoundPayloadFunction(function: PayloadFunction, types: Seq[DataType])
      extends ScalarFunction[Any] {
    override def inputTypes: Array[DataType] = types.toArray
    override def resultType: DataType = function.result
    override def isResultNullable: Boolean = resultType == StringType
    override def name: String = function.name
    override def canonicalName: String = s"sparkkinesis.$name(${types.map(_.sql).mkString(",")})"
    override def produceResult(row: InternalRow): Any = function.body(new Values(types, row))
  }

  /** The arguments of a call. */
  private final class Values(types: Seq[DataType], row: InternalRow) {
    def count: Int = types.size

    def data(index: Int): Either[Reason, Array[Byte]] = types(index) match {
      case _ if row.isNullAt(index) => Left("NO_DATA")
      case BinaryType => Right(row.getBinary(index))
      case _ => Right(row.getUTF8String(index).getBytes)
    }

    def text(index: Int): Either[Reason, String] =
      if (row.isNullAt(index)) Left("NO_DATA") else Right(row.getUTF8String(index).toString)

    /** @throws java.lang.IllegalArgumentException if it is null or not positive */
    def maxBytes(index: Int): Int =
      if (index >= count) Inflate.DefaultMaxBytes
      else {
        val limit = if (row.isNullAt(index)) 0 else row.getInt(index)
        require(limit > 0, "maxBytes must be at least 1")
        limit
      }
  }
}
