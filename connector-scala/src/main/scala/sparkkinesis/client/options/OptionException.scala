package sparkkinesis.client.options

/**
 * An option is unknown, missing, invalid or in conflict with another.
 *
 * @param condition a stable name, one of the constants of the companion object
 * @param message names the option and what to do; contains no secret
 */
private[sparkkinesis] final class OptionException(val condition: String, message: String)
    extends IllegalArgumentException(message)

private[sparkkinesis] object OptionException {
  val UnknownOption = "KINESIS_UNKNOWN_OPTION"
  val InvalidOption = "KINESIS_INVALID_OPTION"
  val MissingOption = "KINESIS_MISSING_OPTION"
  val ConflictingOptions = "KINESIS_CONFLICTING_OPTIONS"
  val StaticKeysInTable = "KINESIS_STATIC_KEYS_IN_TABLE"
  val UnsafeInTable = "KINESIS_UNSAFE_OPTION_IN_TABLE"
  val MissingRegion = "KINESIS_MISSING_REGION"

  def missing(message: String): OptionException = new OptionException(MissingOption, message)

  def conflicting(message: String): OptionException =
    new OptionException(ConflictingOptions, message)
}
