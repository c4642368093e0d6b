package sparkkinesis.client

import sparkkinesis.client.KinesisException._

/**
 * A kind of failure, as users see it.
 *
 * @param condition a stable name, such as `KINESIS_STREAM_NOT_FOUND`
 * @param remedy a sentence that says what to do
 */
private[sparkkinesis] final case class ErrorCondition(condition: String, remedy: String) {

  /** The message with the remedy. */
  def explain(message: String): String = s"${message.stripSuffix(".")}. $remedy"
}

private[sparkkinesis] object ErrorCondition {
  def of(e: KinesisException): ErrorCondition = e match {
    case _: NotFound =>
      ErrorCondition(
        "KINESIS_STREAM_NOT_FOUND",
        "Check the stream's name, its region, and the account of the credentials."
      )
    case _: AccessDenied if e.getMessage.contains("KMS") =>
      ErrorCondition(
        "KINESIS_ACCESS_DENIED",
        "Enable the stream's KMS key, and allow its use: kms:GenerateDataKey for writers, " +
          "kms:Decrypt for readers."
      )
    case _: AccessDenied if e.getMessage.contains("SubscribeToShard") =>
      ErrorCondition(
        "KINESIS_ACCESS_DENIED",
        "Allow kinesis:SubscribeToShard on the consumer's ARN, or set 'consumerMode' to 'polling'."
      )
    case _: AccessDenied =>
      ErrorCondition(
        "KINESIS_ACCESS_DENIED",
        "Allow this action on the stream for the user or role of the credentials."
      )
    case _: BadCredentials | _: CredentialsExpired =>
      ErrorCondition(
        "KINESIS_BAD_CREDENTIALS",
        "Check the keys, profile, provider class or role in the options, and their expiry."
      )
    case _: ClockSkewed =>
      ErrorCondition(
        "KINESIS_CLOCK_SKEW",
        "Correct the clock of the machine: AWS accepts a difference of five minutes."
      )
    case _: Unreachable | _: Withheld =>
      ErrorCondition(
        "KINESIS_UNREACHABLE",
        "Check region, endpoint, network, proxy and certificates."
      )
    case _: InvalidArgument =>
      ErrorCondition(
        "KINESIS_INVALID_REQUEST",
        "Correct the options as the message says."
      )
    case _: TooLarge =>
      ErrorCondition(
        "KINESIS_REQUEST_TOO_LARGE",
        "Write smaller records, or raise the limit of the server or of the proxy before it."
      )
    case _: Throttled =>
      ErrorCondition(
        "KINESIS_THROTTLED",
        "Add shards to the stream, or reduce the number of clients that use it."
      )
    case _: LimitExceeded =>
      ErrorCondition(
        "KINESIS_LIMIT_EXCEEDED",
        "Wait, or request a higher limit of the account from AWS."
      )
    case _: InUse =>
      ErrorCondition("KINESIS_STREAM_BUSY", "Wait until the status of the stream is ACTIVE.")
    case _: ConsumerInUse =>
      ErrorCondition(
        "KINESIS_CONSUMER_IN_USE",
        "Give each query and each application its own consumer: set another 'consumerName'."
      )
    case _: ConsumerNotFound =>
      ErrorCondition(
        "KINESIS_CONSUMER_NOT_FOUND",
        "Restart the query with 'consumerName', which registers the consumer, or with the ARN of " +
          "a consumer that exists."
      )
    case _: FanOutUnavailable =>
      ErrorCondition("KINESIS_FAN_OUT_UNAVAILABLE", "Set 'consumerMode' to 'polling'.")
    case _: UnreadableEvent =>
      ErrorCondition(
        "KINESIS_UNREADABLE_EVENT",
        "Set 'consumerMode' to 'polling', and report the message to the developers of the " +
          "connector."
      )
    case _: IteratorExpired | _: ListingExpired | _: ServiceFailure =>
      ErrorCondition(
        "KINESIS_SERVICE_FAILURE",
        "Restart the query. If it fails again, see the AWS Health Dashboard."
      )
    case _: Other =>
      ErrorCondition("KINESIS_FAILURE", "Find the cause in the log of the driver or executor.")
  }
}
