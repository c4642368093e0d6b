package sparkkinesis.spark.write

import org.apache.spark.sql.connector.write.{LogicalWriteInfo, Write, WriteBuilder}
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.aws.AwsRegion
import sparkkinesis.client.options.{ConnectionOptions, OptionException, Options}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.deadletter.DeadLetterFolder
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.once.{OnceQuery, OnceUnsupported, TaskAttempts}
import sparkkinesis.spark.read.checkpoint.SessionFiles
import sparkkinesis.spark.realtime.RealTimeMode

/**
 * Plans a write, batch or streaming, in output modes append and update: each row is a new record.
 *
 * Spark builds it several times per batch, so it checks options and columns, and calls no service.
 */
private[sparkkinesis] final class KinesisWriteBuilder(
    options: Map[String, String],
    info: LogicalWriteInfo,
    query: WriteQuery = new WriteQuery
) extends WriteBuilder
    with SupportsStreamingUpdateAsAppend {

  /** @throws ConnectorError if options or columns are invalid */
  override def build(): Write = ConnectorError.translating {
    val parsed = Options.parse(options, SinkOptions.All)
    val sink = SinkOptions.parse(parsed)
    if (!sink.isOrdered && !sink.isExactlyOnce)
      write(parsed, sink, columns(parsed, Nil, needsKey = false))
    else {
      if (sink.isOrdered) KinesisWriteBuilder.refuseCopies(TaskAttempts.areCopied())
      val order = KeyOrder.of(info.schema, sink.orderBy, sink.isOrdered)
      val ordered = columns(parsed, order.by.toSeq, needsKey = true)
      if (sink.isExactlyOnce) refuseColumns(ordered)
      val unordered = write(parsed, sink, ordered)
      // KinesisWrite refuses the order if the plan of the batch does not keep it.
      val isRealTime = !sink.isExactlyOnce && RealTimeMode.readsKinesis()
      if (isRealTime) unordered else new OrderedWrite(unordered, order)
    }
  }

  /**
   * The column that names streams counts only where no option does: a row that was read has the
   * name of the stream that it was read from.
   */
  private def columns(parsed: Options, alsoAllowed: Seq[String], needsKey: Boolean): RowRecord =
    RowRecord.of(info.schema, alsoAllowed, needsKey, !ConnectionOptions.nameStream(parsed))

  private def refuseColumns(columns: RowRecord): Unit = {
    val refused = columns.stream.map(_.name) ++ columns.explicitHashKey.map(_ => "explicitHashKey")
    refused.headOption.foreach { name =>
      throw OnceUnsupported(
        s"the rows have column '$name', and such a write has one stream and hash keys of its own",
        "Drop the column, and name the stream by option."
      )
    }
  }

  private def write(parsed: Options, sink: SinkOptions, columns: RowRecord): KinesisWrite = {
    val stream = fixed(parsed, columns)
    val isByName = columns.stream.exists(!_.isArn)
    val defaults = ConnectionOptions.defaults(parsed, isByName, AwsRegion.default)
    val hadoop = () => SessionFiles.conf()
    val once = stream.filter(_ => sink.isExactlyOnce).map {
      new OnceQuery(_, info.queryId, OnceQuery.checkpoint(options), sink.writeId, hadoop)
    }
    val letters = sink.deadLetters.map {
      DeadLetterFolder.of(_, info.queryId, hadoop(), once.fold(sink.writeId)(_.uniqueId))
    }
    new KinesisWrite(stream, defaults, sink, columns, letters, query, once)
  }

  private def fixed(parsed: Options, columns: RowRecord): Option[StreamAccess] =
    if (ConnectionOptions.nameStream(parsed))
      Some(ConnectionOptions.stream(parsed, AwsRegion.default))
    else if (columns.stream.isDefined) None
    else
      throw OptionException.missing(
        "The write names no stream. Set option 'streamName', such as orders, or 'streamArn', " +
          "such as arn:aws:kinesis:eu-west-1:123456789012:stream/orders, or add a column " +
          "'stream' or 'streamArn' to the rows."
      )
}

private[sparkkinesis] object KinesisWriteBuilder {

  /** @param areCopied whether Spark runs copies of slow tasks */
  private[write] def refuseCopies(areCopied: Boolean): Unit =
    if (areCopied)
      throw OptionException.conflicting(
        "Option 'ordering' is perKey, and spark.speculation is true: a copy of a task would " +
          "write older rows of a key after newer ones. Set spark.speculation to false, or " +
          "'ordering' to none."
      )
}
