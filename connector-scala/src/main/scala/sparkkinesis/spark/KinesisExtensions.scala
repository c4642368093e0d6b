package sparkkinesis.spark

import org.apache.spark.sparkkinesis.TableFunction.Argument
import org.apache.spark.sparkkinesis.{StreamingTable, TableFunction}
import org.apache.spark.sql.{
  DataFrame,
  SparkSession,
  SparkSessionExtensions,
  SparkSessionExtensionsProvider
}

import sparkkinesis.client.options.{ConnectionTable, OptionException}
import sparkkinesis.spark.compat.ParsedQueries
import sparkkinesis.spark.errors.ConnectorError

/**
 * The function `read_kinesis` in SQL: `SELECT * FROM read_kinesis(streamName => 'orders')`, and
 * streaming reads of tables in a `spark_catalog` of another format. Spark finds this class by its
 * service file when a session starts with the jar.
 */
final class KinesisExtensions extends SparkSessionExtensionsProvider {
  import KinesisExtensions._

  override def apply(extensions: SparkSessionExtensions): Unit = {
    ParsedQueries.inject(
      extensions,
      session =>
        new TableFunction(Name, (arguments, isStreaming) => read(session, arguments, isStreaming))
    )
    extensions.injectResolutionRule { session =>
      new StreamingTable(
        _.getPackage == classOf[KinesisTable].getPackage,
        stored => {
          val options = ConnectorError.translating(TableDefinition.stored(stored).sourceOptions)
          session.readStream.format("spark-kinesis").options(options).load()
        }
      )
    }
  }
}

private object KinesisExtensions {
  private val Name = "read_kinesis"

  private def read(
      session: SparkSession,
      arguments: Seq[Argument],
      isStreaming: Boolean
  ): DataFrame = {
    val options = ConnectorError.translating(arguments.map(option).toMap)
    if (isStreaming) session.readStream.format("spark-kinesis").options(options).load()
    else session.read.format("spark-kinesis").options(options).load()
  }

  private def option(argument: Argument): (String, String) = argument match {
    case Argument(None, _) =>
      throw invalid(
        "An argument has no name. Pass each one by name, such as streamName => 'orders'."
      )
    case Argument(Some(name), _) if ConnectionTable.meaning(name, ConnectionTable.Keys).nonEmpty =>
      throw invalid(
        s"Spark shows the text of a query to others, and argument '$name' is a secret key. Use " +
          "'profile', 'roleArn' or the default credentials chain of the AWS SDK."
      )
    case Argument(Some(name), None) =>
      throw invalid(s"Argument '$name' is not a constant. Pass a string, a number or a boolean.")
    case Argument(Some(name), Some(value)) => name -> value
  }

  private def invalid(problem: String) =
    new OptionException(OptionException.InvalidOption, s"Function $Name: $problem")
}
