package sparkkinesis.sink

/**
 * Where rows are written that Kinesis cannot accept.
 *
 * @param path of a folder in a Hadoop file system
 * @param keepsLateRecords whether records that a shard does not take in time are written there, too
 */
final case class DeadLetterOptions(
    path: String,
    format: DeadLetterFormat = DeadLetterFormat.Json,
    keepsLateRecords: Boolean = false
)

/** The file format of dead letters. */
sealed abstract class DeadLetterFormat(val name: String) extends Serializable

object DeadLetterFormat {
  case object Json extends DeadLetterFormat("json")
  case object Parquet extends DeadLetterFormat("parquet")

  val All: Seq[DeadLetterFormat] = Seq(Json, Parquet)
}
