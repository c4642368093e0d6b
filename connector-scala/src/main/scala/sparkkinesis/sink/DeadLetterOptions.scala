package sparkkinesis.sink

/**
 * Where rows are written that Kinesis cannot accept.
 *
 * @param path of a folder in a Hadoop file system
 */
final case class DeadLetterOptions(
    path: String,
    format: DeadLetterFormat = DeadLetterFormat.Json
)

/** The file format of dead letters. */
sealed abstract class DeadLetterFormat(val name: String) extends Serializable

object DeadLetterFormat {
  case object Json extends DeadLetterFormat("json")
  case object Parquet extends DeadLetterFormat("parquet")

  val All: Seq[DeadLetterFormat] = Seq(Json, Parquet)
}
