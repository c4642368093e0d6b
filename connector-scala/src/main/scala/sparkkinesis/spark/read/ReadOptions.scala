package sparkkinesis.spark.read

import scala.util.Using

import org.apache.spark.sql.types.StructType

import sparkkinesis.client.aws.{AwsRegion, ClientPool}
import sparkkinesis.client.options.OptionException
import sparkkinesis.client.{Retry, ShardFilter, ShardLister, StreamAccess, SystemClock}
import sparkkinesis.model.Shard
import sparkkinesis.source.options.{DefinitionCheck, SourceOptions}
import sparkkinesis.spark.read.task.RecordRow

/** Parses and checks the options and the schema of a read, on the driver. */
private[spark] object ReadOptions {

  /** @throws OptionException if an option is missing, invalid or unknown */
  def parse(options: Map[String, String]): SourceOptions =
    SourceOptions.parse(options, AwsRegion.default)

  /**
   * Parses the options when a `DataFrame` is defined or a table is created, and checks the
   * positions more closely. Calls the service only if the positions name shards.
   *
   * @throws OptionException if an option is missing, invalid or unknown
   */
  def checked(options: Map[String, String]): SourceOptions = {
    val parsed = parse(options)
    new DefinitionCheck(parsed, SystemClock.now).check(shardsOf)
    parsed
  }

  private def shardsOf(stream: StreamAccess): Seq[Shard] =
    Using.resource(ClientPool.shared.borrow(stream.client)) { loan =>
      Retry.atStart(SystemClock) {
        ShardLister.list(loan.value, stream.ref, ShardFilter.FromTrimHorizon).shards
      }
    }

  /** The columns of a read. */
  def schema(isReplay: Boolean): StructType =
    if (isReplay) RecordRow.ReplaySchema else RecordRow.Schema

  /** @throws OptionException if the user set a schema that is not the source's own */
  def checkSchema(passed: StructType, own: StructType): Unit =
    if (columns(passed) != columns(own))
      throw new OptionException(
        OptionException.InvalidOption,
        s"The schema ${passed.simpleString} was set, but a Kinesis source has fixed columns: " +
          s"${own.fieldNames.mkString(", ")}. Remove 'schema', and parse column 'data', " +
          "for example with from_json."
      )

  private def columns(schema: StructType) = schema.map(field => field.name -> field.dataType)
}
