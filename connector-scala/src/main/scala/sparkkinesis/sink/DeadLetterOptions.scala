package sparkkinesis.sink

/**
 * Where rows go that cannot be records.
 *
 * @param path of a folder, as Hadoop's file systems name it
 */
final case class DeadLetterOptions(
    path: String,
    format: DeadLetterFormat = DeadLetterFormat.Json
)

/** How dead letters are written. */
sealed abstract class DeadLetterFormat(val name: String) extends Serializable

object DeadLetterFormat {
  case object Json extends DeadLetterFormat("json")
  case object Parquet extends DeadLetterFormat("parquet")

  val All: Seq[DeadLetterFormat] = Seq(Json, Parquet)
}
