package sparkkinesis.spark.write

import org.apache.hadoop.conf.Configuration

import org.apache.spark.SparkContext
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, Write, WriteBuilder}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.aws.AwsRegion
import sparkkinesis.client.options.{ConnectionOptions, OptionException, Options}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.deadletter.DeadLetterFolder
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.once.OnceQuery

/**
 * Plans a write, batch or streaming, in output modes append and update: each row is a new record.
 *
 * Spark builds it several times per batch, so it checks options and columns, and calls no service.
 */
final class KinesisWriteBuilder(
    options: Map[String, String],
    info: LogicalWriteInfo,
    query: WriteQuery = new WriteQuery
) extends WriteBuilder
    with SupportsStreamingUpdateAsAppend {

  /** @throws ConnectorError if options or columns are invalid */
  override def build(): Write = ConnectorError.translating {
    val parsed = Options.parse(options, KinesisWriteBuilder.OptionNames)
    val sink = SinkOptions.parse(parsed)
    if (!sink.isOrdered && !sink.isExactlyOnce) write(parsed, sink, RowRecord.of(info.schema))
    else {
      val order = KeyOrder.of(info.schema, sink.orderBy, sink.isOrdered)
      val columns = RowRecord.of(info.schema, alsoAllowed = order.by.toSeq)
      if (sink.isExactlyOnce) refuseColumns(columns)
      requireOneName(parsed, columns)
      new OrderedWrite(write(parsed, sink, columns), order)
    }
  }

  /** A stream under two names would count as two streams, each with an order of its own. */
  private def requireOneName(parsed: Options, columns: RowRecord): Unit =
    columns.stream.foreach { column =>
      val other = if (column.isArn) "streamName" else "streamArn"
      if (parsed.contains(other))
        throw OptionException.conflicting(
          s"With 'ordering=perKey', option ${parsed.named(other)} and column '${column.name}' could " +
            "name one stream in two ways, and its order would be lost. Use names in both, or ARNs " +
            "in both."
        )
    }

  private def refuseColumns(columns: RowRecord): Unit = {
    val refused = columns.stream.map(_.name) ++ columns.explicitHashKey.map(_ => "explicitHashKey")
    refused.headOption.foreach { name =>
      throw OnceQuery.unsupported(
        s"the rows have column '$name', and such a write has one stream and hash keys of its own",
        "Drop the column, and name the stream by option."
      )
    }
  }

  private def write(parsed: Options, sink: SinkOptions, columns: RowRecord): KinesisWrite = {
    val stream = fixed(parsed, columns)
    val isByName = columns.stream.exists(!_.isArn)
    val defaults = ConnectionOptions.defaults(parsed, stream, isByName, AwsRegion.default)
    val letters = sink.deadLetters.map {
      DeadLetterFolder.of(_, info.queryId, KinesisWriteBuilder.hadoop())
    }
    val hadoop = () => KinesisWriteBuilder.hadoop()
    val once = stream.filter(_ => sink.isExactlyOnce).map {
      new OnceQuery(_, info.queryId, OnceQuery.checkpoint(options), hadoop)
    }
    new KinesisWrite(stream, defaults, sink, columns, letters, query, once)
  }

  private def fixed(parsed: Options, columns: RowRecord): Option[StreamAccess] =
    if (ConnectionOptions.nameStream(parsed))
      Some(ConnectionOptions.stream(parsed, AwsRegion.default))
    else if (columns.stream.isDefined) None
    else
      throw OptionException.missing(
        "The write names no stream. Set option 'streamName', such as orders, or 'streamArn', such " +
          "as arn:aws:kinesis:eu-west-1:123456789012:stream/orders, or add a column 'stream' or 'streamArn' " +
          "to the rows."
      )
}

object KinesisWriteBuilder {

  /** Every option of the sink. */
  val OptionNames: Seq[String] =
    ConnectionOptions.Names ++ SinkOptions.Names

  /** Configuration of the cluster and of the session, as in Spark's own sinks. */
  private def hadoop(): Configuration = {
    val conf = new Configuration(SparkContext.getOrCreate().hadoopConfiguration)
    SQLConf.get.getAllConfs.foreach { case (name, value) => conf.set(name, value) }
    conf
  }
}
