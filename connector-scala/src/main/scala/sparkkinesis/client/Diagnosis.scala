package sparkkinesis.client

import sparkkinesis.client.KinesisException._

/**
 * What a failure of Kinesis means to a user.
 *
 * @param condition a stable name, such as `KINESIS_STREAM_NOT_FOUND`
 * @param remedy a sentence: what to do
 */
final case class Diagnosis(condition: String, remedy: String) {

  /** What happened, and then the remedy. */
  def explain(message: String): String = s"${message.stripSuffix(".")}. $remedy"
}

object Diagnosis {
  def of(e: KinesisException): Diagnosis = e match {
    case _: NotFound =>
      Diagnosis(
        "KINESIS_STREAM_NOT_FOUND",
        "Check the stream's name, its region, and the account of the credentials."
      )
    case _: AccessDenied if e.getMessage.contains("KMS") =>
      Diagnosis(
        "KINESIS_ACCESS_DENIED",
        "Enable the stream's KMS key, and allow its use: kms:GenerateDataKey to who writes, " +
          "kms:Decrypt to who reads."
      )
    case _: AccessDenied =>
      Diagnosis(
        "KINESIS_ACCESS_DENIED",
        "Allow this action on the stream to the user or role that asks."
      )
    case _: BadCredentials | _: CredentialsExpired =>
      Diagnosis(
        "KINESIS_BAD_CREDENTIALS",
        "Check the keys, profile or role in the options, their expiry, and the machine's clock."
      )
    case _: Unreachable =>
      Diagnosis("KINESIS_UNREACHABLE", "Check region, endpoint, network and proxy.")
    case _: InvalidArgument =>
      Diagnosis("KINESIS_INVALID_REQUEST", "Check the options against what the service says.")
    case _: Throttled =>
      Diagnosis("KINESIS_THROTTLED", "Add shards to the stream, or let fewer clients use it.")
    case _: LimitExceeded =>
      Diagnosis("KINESIS_LIMIT_EXCEEDED", "Wait, or ask AWS to raise the account's limit.")
    case _: InUse => Diagnosis("KINESIS_STREAM_BUSY", "Wait until the stream is active.")
    case _: IteratorExpired | _: ListingExpired | _: ServiceFailure =>
      Diagnosis("KINESIS_SERVICE_FAILURE", "Start the query again; see the AWS Health Dashboard.")
    case _: Other =>
      Diagnosis("KINESIS_FAILURE", "The cause is in the log of the driver or executor.")
  }
}
