package sparkkinesis.sink

/** Kinesis did not take a record in time; the records that wait are not written, or unknown to be. */
final class DeliveryTimeoutException(message: String, cause: Throwable)
    extends RuntimeException(message, cause)
