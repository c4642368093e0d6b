package sparkkinesis.sink.write

/** Kinesis did not accept a record in time. Records that still wait may have been written. */
final class DeliveryTimeoutException(message: String, cause: Throwable)
    extends RuntimeException(message, cause)
