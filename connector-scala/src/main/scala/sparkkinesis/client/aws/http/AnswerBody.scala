package sparkkinesis.client.aws.http

import java.nio.ByteBuffer
import java.util.Optional

import org.reactivestreams.{Publisher, Subscriber, Subscription}
import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttribute,
  ExecutionAttributes,
  ExecutionInterceptor
}
import software.amazon.awssdk.http.SdkHttpResponse

/**
 * Gives the body of a subscription's answer to a reader of ours. The SDK receives an empty one: its
 * decoder has a buffer of 2 MiB from the beginning, and creates objects per record. Refusals reach
 * the SDK unchanged.
 */
private[aws] object AnswerBody extends ExecutionInterceptor {

  /** Reads a body. Its methods are called on the threads of the network, and return at once. */
  trait Reader {

    /** The headers of an answer, perhaps of a refusal. */
    def answered(headers: SdkHttpResponse): Unit

    /** The body of an answer that is not a refusal. */
    def read(body: Publisher[ByteBuffer]): Unit
  }

  /** Reads the answer of one call. */
  val Attribute = new ExecutionAttribute[Reader]("sparkkinesis.AnswerBody")

  override def afterTransmission(
      context: Context.AfterTransmission,
      attributes: ExecutionAttributes
  ): Unit = Option(attributes.getAttribute(Attribute)).foreach(_.answered(context.httpResponse))

  override def modifyAsyncHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[Publisher[ByteBuffer]] =
    Option(attributes.getAttribute(Attribute))
      .filter(_ => context.httpResponse.isSuccessful)
      .fold(context.responsePublisher) { reader =>
        context.responsePublisher.map[Publisher[ByteBuffer]] { body =>
          reader.read(body)
          Empty
        }
      }

  private object Empty extends Publisher[ByteBuffer] {
    override def subscribe(subscriber: Subscriber[_ >: ByteBuffer]): Unit = {
      subscriber.onSubscribe(Nothing)
      subscriber.onComplete()
    }
  }

  private object Nothing extends Subscription {
    override def request(count: Long): Unit = ()
    override def cancel(): Unit = ()
  }
}
