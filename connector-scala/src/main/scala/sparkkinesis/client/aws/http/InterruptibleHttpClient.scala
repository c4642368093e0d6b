package sparkkinesis.client.aws.http

import java.io.FilterInputStream
import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

import software.amazon.awssdk.http._
import software.amazon.awssdk.utils.AttributeMap

import sparkkinesis.client.Timer

/**
 * Aborts the requests of interrupted threads.
 *
 * A thread that reads from a blocking socket notices its interruption only at the response or a
 * timeout. Therefore the timer checks for interruptions ten times per second.
 */
private[aws] final class InterruptibleHttpClient(delegate: SdkHttpClient) extends SdkHttpClient {
  private val inFlight = new ConcurrentHashMap[ExecutableHttpRequest, Thread]

  private val watch = Timer.every(InterruptibleHttpClient.Period)(() => abortInterrupted())

  private def abortInterrupted(): Unit = inFlight.asScala.foreach { case (request, thread) =>
    if (thread.isInterrupted) request.abort()
  }

  /** Number of requests whose response has not been read. For tests. */
  private[aws] def requestsInFlight: Int = inFlight.size

  override def prepareRequest(request: HttpExecuteRequest): ExecutableHttpRequest = {
    val prepared = delegate.prepareRequest(request)
    new ExecutableHttpRequest {
      override def abort(): Unit = prepared.abort()

      override def call(): HttpExecuteResponse = {
        inFlight.put(prepared, Thread.currentThread())
        try {
          val response = prepared.call()
          val body = response.responseBody().toScala
          if (body.isEmpty) inFlight.remove(prepared)
          HttpExecuteResponse
            .builder()
            .response(response.httpResponse())
            .responseBody(body.map(tracked(_, prepared)).orNull)
            .build()
        } catch {
          case e: Throwable =>
            inFlight.remove(prepared)
            throw e
        }
      }
    }
  }

  /** A request is in flight until its response has been read. */
  private def tracked(
      body: AbortableInputStream,
      request: ExecutableHttpRequest
  ): AbortableInputStream = AbortableInputStream.create(
    new FilterInputStream(body) {
      override def close(): Unit = {
        inFlight.remove(request)
        super.close()
      }
    },
    () => {
      inFlight.remove(request)
      body.abort()
    }
  )

  override def clientName(): String = delegate.clientName()

  override def close(): Unit = {
    watch.close()
    delegate.close()
  }
}

private[aws] object InterruptibleHttpClient {
  private val Period = 100.millis

  /** A builder, so that the SDK's client owns and closes the HTTP client. */
  final class Builder(delegate: SdkHttpClient.Builder[_]) extends SdkHttpClient.Builder[Builder] {
    override def buildWithDefaults(defaults: AttributeMap): SdkHttpClient =
      new InterruptibleHttpClient(delegate.buildWithDefaults(defaults))
  }
}
