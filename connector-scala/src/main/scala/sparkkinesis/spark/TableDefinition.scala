package sparkkinesis.spark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.client.options._
import sparkkinesis.compat._
import sparkkinesis.sink.SinkOptions
import sparkkinesis.source.options.SourceOptions

/**
 * The definition of a table in a catalog (`CREATE TABLE ... USING kinesis OPTIONS (...)`).
 *
 * Spark keeps each option as a property of the table, under the name `option.<name>`, beside
 * properties of its own. One definition serves reads and writes, so it may hold options of both.
 *
 * @param properties as the catalog keeps them
 */
private[spark] final case class TableDefinition(properties: Map[String, String]) {
  import TableDefinition._

  /** The properties without static keys. A read or a write that would need the keys is refused. */
  private val options = properties.collect {
    case (name, value) if name.startsWith(Prefix) && !isStaticKey(name) =>
      name.stripPrefix(Prefix) -> value
  }

  /** The options for reading. An unknown option is among them, so that parsing refuses it. */
  def sourceOptions: Map[String, String] =
    without(SinkOptions.All, SourceOptions.All)

  /** The options for a streaming query. A definition also serves batch reads, and may end them. */
  def streamOptions: Map[String, String] = sourceOptionsWithout(SourceOptions.OfBatchReads)

  /**
   * The options for a batch read: a definition also serves streaming queries, and may limit their
   * micro-batches.
   */
  def batchOptions: Map[String, String] = sourceOptionsWithout(SourceOptions.OfMicroBatches)

  private def sourceOptionsWithout(others: Seq[OptionSpec[_]]) =
    sourceOptions.filter { case (name, _) => OptionSpec.find(name, others).isEmpty }

  /** The options for a write. An unknown option is among them, so that parsing refuses it. */
  def sinkOptions: Map[String, String] =
    without(SourceOptions.All, SinkOptions.All)

  private def without(others: Seq[OptionSpec[_]], needed: Seq[OptionSpec[_]]): Map[String, String] =
    options.filterNot { case (name, _) =>
      OptionSpec.find(name, needed).isEmpty && OptionSpec.find(name, others).nonEmpty
    }

  /**
   * This definition, if a catalog may keep it.
   *
   * @throws OptionException if it holds static keys, which outlive the session in the catalog; or
   *   an option that would send the credentials of the one who uses the table to another place, or
   *   run code with them
   */
  def checked: TableDefinition = {
    options.toSeq.sorted.find { case (name, value) => isUnsafe(name, value) }.foreach {
      case (name, _) =>
        throw new OptionException(
          OptionException.UnsafeInTable,
          s"The table definition holds option '$name'. Whoever uses the table would follow it " +
            "with credentials of their own. Remove it from the definition, and set it as an " +
            "option of each query, such as spark.read.option(...).table(...)."
        )
    }
    properties.keys.toSeq.sorted.find(isStaticKey).foreach { name =>
      throw new OptionException(
        OptionException.StaticKeysInTable,
        s"The table definition holds option '${name.stripPrefix(Prefix)}', and a catalog keeps " +
          "definitions as plain text. Remove the static keys from the definition. Use option " +
          "'profile', option 'roleArn' or the default credentials chain of the AWS SDK, or set " +
          "the keys as options of each query, such as spark.read.option(...).table(...)."
      )
    }
    this
  }

  /** The properties, as `DESCRIBE TABLE EXTENDED` and `SHOW CREATE TABLE` show them. */
  def masked: Map[String, String] = properties.map { case (name, value) =>
    name -> (if (ConnectionTable.isSecret(name.stripPrefix(Prefix))) "***" else value)
  }
}

private[spark] object TableDefinition {
  private val Prefix = TableCatalog.OPTION_PREFIX

  /** `None` if these are the options of a `DataFrame`: only a catalog names the provider. */
  def of(properties: CaseInsensitiveStringMap): Option[TableDefinition] =
    Option.when(properties.containsKey(TableCatalog.PROP_PROVIDER)) {
      TableDefinition(properties.asCaseSensitiveMap.asScala.toMap)
    }

  /** @throws OptionException if a table is to be read with the options of a replay */
  def refuseReplay(options: SourceOptions): Unit =
    if (options.replay.nonEmpty)
      throw OptionException.conflicting(
        "Option 'replayCheckpoint' is set for a table of a catalog, which has no column " +
          "'batchId'. Remove it, and replay with spark.read.format(\"kinesis\")."
      )

  /** Options of a query, and those of the table's definition that the query does not set. */
  def merged(
      defined: Map[String, String],
      query: CaseInsensitiveStringMap
  ): Map[String, String] = {
    val own: JMap[String, String] = query.asCaseSensitiveMap
    defined.filterNot { case (name, _) => query.containsKey(name) } ++ own.asScala
  }

  /** Whether the option decides where calls go, whom they trust, or which class runs. */
  def isUnsafe(name: String, value: String): Boolean =
    ConnectionTable.meaning(name, ConnectionTable.Trusted).exists { option =>
      option != ConnectionTable.Endpoint || !NetworkOptions.isOnThisMachine(value)
    }

  private def isStaticKey(name: String): Boolean =
    ConnectionTable.meaning(name.stripPrefix(Prefix), ConnectionTable.Keys).nonEmpty
}
