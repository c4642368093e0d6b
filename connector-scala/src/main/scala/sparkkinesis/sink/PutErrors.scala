package sparkkinesis.sink

/** The codes of records that were not written (API reference of PutRecords, and what emulators say). */
private[sink] object PutErrors {
  private val Throttling =
    Set("ProvisionedThroughputExceededException", "KMSThrottlingException", "ThrottlingException")

  /** The service documents none for single records; emulators have them. */
  private val Permanent = Set(
    "InvalidArgumentException",
    "ValidationException",
    "ResourceNotFoundException",
    "AccessDeniedException",
    "KMSAccessDeniedException",
    "KMSDisabledException",
    "KMSNotFoundException",
    "KMSOptInRequired"
  )

  /** Too much traffic. */
  def isThrottling(code: String): Boolean = Throttling(code)

  /** No waiting mends it. */
  def isPermanent(code: String): Boolean = Permanent(code)
}
