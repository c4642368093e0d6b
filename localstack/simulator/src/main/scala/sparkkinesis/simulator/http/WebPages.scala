package sparkkinesis.simulator.http

import scala.jdk.CollectionConverters._

import io.netty.handler.codec.http.{HttpHeaderNames, HttpHeaders}

import sparkkinesis.simulator.state.{ErrorCode, Failure}

/**
 * Refuses requests of web pages. Every page that is open in a browser on this machine can send
 * requests to the loopback address. The browser adds the page's `Origin`. A page whose name
 * resolves to the loopback address (DNS rebinding) may omit it, but has its own name as `Host`.
 */
private[http] object WebPages {

  /** The answer to a request that a web page may have sent. */
  def refusal(headers: HttpHeaders): Option[Failure.Refused] = {
    val origin = headers.getAll(HttpHeaderNames.ORIGIN).asScala.headOption.map { page =>
      s"The request has the Origin '$page', so a web page sent it. This server accepts none from " +
        "web pages."
    }
    val host = headers.getAll(HttpHeaderNames.HOST).asScala.find(!isLoopback(_)).map { name =>
      s"The request is for Host '$name'. Use the endpoint http://127.0.0.1 or http://localhost."
    }
    origin.orElse(host).map(Failure.Refused(ErrorCode.AccessDenied, _))
  }

  private def isLoopback(host: String): Boolean = Loopback.pattern.matcher(host).matches

  private val Loopback = "(?i)(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d*)?".r
}
