package sparkkinesis.spark.once

import sparkkinesis.spark.errors.ConnectorError

/** The error of a write that cannot be exactly once. */
private[spark] object OnceUnsupported {
  def apply(why: String, remedy: String): ConnectorError = ConnectorError(
    "KINESIS_EXACTLY_ONCE_UNSUPPORTED",
    s"Option 'deliveryGuarantee' is exactlyOnce, but $why. $remedy Or set the option to " +
      "atLeastOnce."
  )
}
