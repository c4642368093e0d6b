package sparkkinesis.client.aws

import java.util.concurrent.atomic.AtomicBoolean

import org.slf4j.LoggerFactory

/** Warns once per client that a library does what our own code for CBOR and JSON could not do. */
private[aws] final class FallbackWarning {
  private val isDone = new AtomicBoolean

  /** @param what the message, such as `A response of GetRecords of stream orders` */
  def warn(what: String): Unit = if (isDone.compareAndSet(false, true))
    FallbackWarning.log.warn(
      s"$what has a form that the connector cannot encode or decode itself. A library does it, " +
        "which costs more CPU time and changes no record. The metric 'fallbackResponses' counts " +
        "such messages. If the server is AWS, report this to the developers of the connector."
    )
}

private object FallbackWarning {
  private val log = LoggerFactory.getLogger(classOf[FallbackWarning])
}
