package sparkkinesis.spark

import java.util.Locale

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import org.apache.spark.sparkkinesis.TableFunction.Argument
import org.apache.spark.sparkkinesis.{NewTable, TableFunction}
import org.apache.spark.sql.{
  DataFrame,
  SparkSession,
  SparkSessionExtensions,
  SparkSessionExtensionsProvider
}

import sparkkinesis.client.options.{ConnectionTable, OptionException}
import sparkkinesis.spark.compat.QueryRules
import sparkkinesis.spark.errors.ConnectorError

/**
 * The function `read_kinesis` in SQL: `SELECT * FROM read_kinesis(streamName => 'orders')`, and the
 * refusal of new tables that Spark could not read. Spark finds this class by its service file when
 * a session starts with the jar.
 *
 * It is part of every session with the jar, also of those that do not use the connector. So it must
 * not fail: a Spark that lacks a class or a method has no such function, and refuses no tables.
 */
final class KinesisExtensions extends SparkSessionExtensionsProvider {
  import KinesisExtensions._

  override def apply(extensions: SparkSessionExtensions): Unit = {
    unlessLacking(s"This Spark has no function ${Names.head}.") {
      TableFunction.requireClasses()
      QueryRules.ofParsed(
        extensions,
        session => new TableFunction(isOurs(session, _), read(session, _, _))
      )
    }
    unlessLacking(NoRefusal) {
      NewTable.requireClasses()
      QueryRules.ofAnalyzed(
        extensions,
        session => plan => unlessLacking(NoRefusal)(NewTable.of(plan).foreach(check(session, _)))
      )
    }
  }
}

private object KinesisExtensions {
  private val log = LoggerFactory.getLogger(classOf[KinesisExtensions])

  private val NoRefusal =
    "On this Spark, the connector does not refuse new tables that Spark could not read."

  /** Warns instead if this Spark lacks a class or a method. */
  private def unlessLacking(warning: String)(use: => Unit): Unit =
    try use
    catch { case e: LinkageError => log.warn(warning, e) }

  private val SessionCatalog = "spark_catalog"
  private val BuiltIn = "builtin"

  /** The second one is for platforms and sessions that have a `read_kinesis` of their own. */
  private val Names = Seq("read_kinesis", "read_spark_kinesis")

  /** A function of the session or the platform comes first. */
  private def isOurs(session: SparkSession, name: String): Boolean = Names.contains(name) && ! {
    try session.catalog.functionExists(name)
    catch { case NonFatal(_) => false }
  }

  /** Spark reads such a table by an older interface, which this data source does not have. */
  private def check(session: SparkSession, table: NewTable): Unit = {
    val setting = s"spark.sql.catalog.$SessionCatalog"
    val catalog = session.conf.get(setting, BuiltIn)
    val isForeign = table.catalog == SessionCatalog && !catalog.equalsIgnoreCase(BuiltIn)
    if (isForeign && table.source.exists(isConnector))
      throw ConnectorError(
        "KINESIS_UNSUPPORTED_CATALOG",
        s"Table '${table.name}' is not created: '$setting' is '$catalog', and Spark could not " +
          "read a Kinesis table from such a catalog. Use the function read_kinesis, a temporary " +
          "view, or format(\"kinesis\"). Or remove the setting, and give the catalog of the " +
          "other format another name, if the format supports this."
      )
  }

  /**
   * The two formats of the connector have two classes, both in this package. The name of a format
   * does not tell: another source may be named `kinesis`, too.
   */
  private def isConnector(source: Class[_]) = source.getPackageName == getClass.getPackageName

  private def read(
      session: SparkSession,
      arguments: Seq[Argument],
      isStreaming: Boolean
  ): DataFrame = {
    val options = ConnectorError.translating(optionsOf(arguments))
    if (isStreaming) session.readStream.format("spark-kinesis").options(options).load()
    else session.read.format("spark-kinesis").options(options).load()
  }

  private def optionsOf(arguments: Seq[Argument]): Map[String, String] = {
    val all = arguments.map(option)
    all.groupBy(_._1.toLowerCase(Locale.ROOT)).values.find(_.size > 1).foreach { same =>
      throw invalid(s"Argument '${same.head._1}' is passed more than once.")
    }
    all.toMap
  }

  private def option(argument: Argument): (String, String) = argument match {
    case Argument(None, _) =>
      throw invalid(
        "An argument has no name. Pass each one by name, such as streamName => 'orders'."
      )
    case Argument(Some(name), _) if isSecret(name) =>
      throw invalid(
        s"Spark shows the text of a query to others, and argument '$name' is secret. Use " +
          "'profile', 'roleArn' or the default credentials chain of the AWS SDK."
      )
    case Argument(Some(name), None) =>
      throw invalid(
        s"The value of argument '$name' is not a constant. Pass a string, a number or a boolean " +
          "in the text of the query: a parameter of the query is one from Spark 4.1 on only."
      )
    case Argument(Some(name), Some(value)) if TableDefinition.isUnsafe(name, value) =>
      throw invalid(
        s"A view may keep this query, and whoever uses the view would follow argument '$name' " +
          "with credentials of their own. Use spark.read or spark.readStream with this option."
      )
    case Argument(Some(name), Some(value)) => name -> value
  }

  private def isSecret(name: String) = ConnectionTable.isSecret(name) &&
    ConnectionTable.meaning(name, Seq(ConnectionTable.RoleExternalId)).isEmpty

  private def invalid(problem: String) =
    new OptionException(OptionException.InvalidOption, s"Function ${Names.head}: $problem")
}
