package sparkkinesis.sink.write

/** Kinesis did not take a record in time. Those that wait may have been written or not. */
final class DeliveryTimeoutException(message: String, cause: Throwable)
    extends RuntimeException(message, cause)
