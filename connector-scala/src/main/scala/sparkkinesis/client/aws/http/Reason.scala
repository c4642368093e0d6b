package sparkkinesis.client.aws.http

import javax.net.ssl.SSLException

/**
 * Why a call failed: the message of the SDK, and that of the root cause if the first one does not
 * contain it.
 */
private[aws] object Reason {
  private val MaxCauses = 20

  /**
   * Begins with `TLS failed` if a cause is an `SSLException`: a message such as `Tag mismatch!`
   * does not mention TLS.
   */
  def of(e: Throwable): String = {
    val all = causes(e)
    val (whole, root) = (text(e), text(all.last))
    val tls = if (all.exists(_.isInstanceOf[SSLException])) "TLS failed: " else ""
    tls + (if (whole.contains(root)) whole else s"$whole - $root")
  }

  /** The exception and its causes, outermost first. */
  def causes(e: Throwable): Seq[Throwable] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(MaxCauses).toSeq

  private def text(e: Throwable): String =
    Option(e.getMessage).filter(_.nonEmpty).getOrElse(e.getClass.getSimpleName)
}
