package sparkkinesis.client.aws

import java.util.concurrent.ConcurrentHashMap

import org.slf4j.LoggerFactory

/**
 * Warns once per client and operation that a library does what our own code for CBOR and JSON could
 * not do.
 */
private[aws] final class FallbackWarning {
  private val operations = ConcurrentHashMap.newKeySet[String]

  /**
   * @param operation of the service
   * @param what the message, such as `A response of GetRecords of stream orders`
   * @param why what may explain it, in sentences
   */
  def warn(operation: String, what: String, why: String): Unit = if (operations.add(operation))
    FallbackWarning.log.warn(
      s"$what has a form that the connector cannot encode or decode itself. A library does it, " +
        s"which costs more CPU time and changes no record. $why The metric 'fallbackResponses' " +
        "counts such messages while the connector reads ahead or writes."
    )
}

private[aws] object FallbackWarning {

  /** Why a message of CBOR may need a library. */
  val Cbor: String = "This is expected if CBOR is switched off (aws.cborEnabled=false). " +
    "Otherwise, if the server is AWS, report this to the developers of the connector."

  /** Why an event may need a library. */
  val Event: String =
    "This is expected if partition keys contain quotation marks or backslashes. " +
      "Otherwise, if the server is AWS, report this to the developers of the connector."
  private val log = LoggerFactory.getLogger(classOf[FallbackWarning])
}
