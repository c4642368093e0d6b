package sparkkinesis.client.aws

import java.io.FilterInputStream
import java.util.concurrent.{ConcurrentHashMap, Executors, ScheduledExecutorService, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

import software.amazon.awssdk.http._
import software.amazon.awssdk.utils.AttributeMap

/**
 * Ends the requests of interrupted threads.
 *
 * A thread that reads from a blocking socket does not notice its interruption before the answer or
 * a timeout; so one thread of this client looks for them, ten times a second.
 */
private[aws] final class InterruptibleHttpClient(delegate: SdkHttpClient) extends SdkHttpClient {
  private val underWay = new ConcurrentHashMap[ExecutableHttpRequest, Thread]

  private val watch: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor { task =>
    val thread = new Thread(task, "spark-kinesis-interrupts")
    thread.setDaemon(true)
    thread
  }
  private val period = InterruptibleHttpClient.PeriodMillis
  watch.scheduleWithFixedDelay(() => abortInterrupted(), period, period, TimeUnit.MILLISECONDS)

  private def abortInterrupted(): Unit = underWay.asScala.foreach { case (request, thread) =>
    if (thread.isInterrupted) request.abort()
  }

  /** For tests: none must stay when its answer is read. */
  private[aws] def requestsUnderWay: Int = underWay.size

  override def prepareRequest(request: HttpExecuteRequest): ExecutableHttpRequest = {
    val prepared = delegate.prepareRequest(request)
    new ExecutableHttpRequest {
      override def abort(): Unit = prepared.abort()

      override def call(): HttpExecuteResponse = {
        underWay.put(prepared, Thread.currentThread())
        try {
          val response = prepared.call()
          val body = response.responseBody().toScala
          if (body.isEmpty) underWay.remove(prepared)
          HttpExecuteResponse
            .builder()
            .response(response.httpResponse())
            .responseBody(body.map(tracked(_, prepared)).orNull)
            .build()
        } catch {
          case e: Throwable =>
            underWay.remove(prepared)
            throw e
        }
      }
    }
  }

  /** A request is under way until its answer is read. */
  private def tracked(
      body: AbortableInputStream,
      request: ExecutableHttpRequest
  ): AbortableInputStream = AbortableInputStream.create(
    new FilterInputStream(body) {
      override def close(): Unit = {
        underWay.remove(request)
        super.close()
      }
    },
    () => {
      underWay.remove(request)
      body.abort()
    }
  )

  override def clientName(): String = delegate.clientName()

  override def close(): Unit = {
    watch.shutdownNow()
    delegate.close()
  }
}

private[aws] object InterruptibleHttpClient {
  private val PeriodMillis = 100L

  /** In place of the delegate's builder, so that the SDK's client owns and closes what it makes. */
  final class Builder(delegate: SdkHttpClient.Builder[_]) extends SdkHttpClient.Builder[Builder] {
    override def buildWithDefaults(defaults: AttributeMap): SdkHttpClient =
      new InterruptibleHttpClient(delegate.buildWithDefaults(defaults))
  }
}
