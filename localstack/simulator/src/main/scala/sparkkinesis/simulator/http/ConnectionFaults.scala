package sparkkinesis.simulator.http

import java.util.concurrent.TimeUnit

import io.netty.channel.socket.SocketChannel
import io.netty.channel.{ChannelFutureListener, ChannelHandlerContext}
import io.netty.handler.codec.http._

import sparkkinesis.simulator.fault.Fault

/** Sends responses with the faults of their connection. Nothing blocks the event loop. */
private[http] object ConnectionFaults {

  /** Sends the response, and releases it. */
  def send(
      context: ChannelHandlerContext,
      response: FullHttpResponse,
      fault: Option[Fault.OfConnection]
  ): Unit = fault match {
    case None => whole(context, response)
    case Some(Fault.Stalled(time)) =>
      context.executor.schedule(
        (() => whole(context, response)): Runnable,
        time.toMillis,
        TimeUnit.MILLISECONDS
      )
      ()
    case Some(Fault.AnswerTruncated) => half(context, response)
    case Some(Fault.AnswerLost) =>
      response.release()
      context.close()
      ()
    case Some(Fault.ConnectionReset) =>
      response.release()
      reset(context)
  }

  /** Starts a stream of events. A fault that truncates a response closes the connection instead. */
  def begin(context: ChannelHandlerContext, fault: Option[Fault.OfConnection])(
      stream: => Unit
  ): Unit = fault match {
    case None => stream
    case Some(Fault.Stalled(time)) =>
      context.executor.schedule(
        (() => if (context.channel.isActive) stream): Runnable,
        time.toMillis,
        TimeUnit.MILLISECONDS
      )
      ()
    case Some(Fault.AnswerLost | Fault.AnswerTruncated | Fault.ConnectionReset) =>
      context.close()
      ()
  }

  /** Closes the connection so that the client sees a reset, not a normal end. */
  def reset(context: ChannelHandlerContext): Unit = {
    context.channel match {
      case socket: SocketChannel => socket.config.setSoLinger(0)
      case _ => () // a stream of HTTP/2 is reset when it is closed early
    }
    context.close()
    ()
  }

  private def whole(context: ChannelHandlerContext, response: FullHttpResponse): Unit = {
    val keepAlive = HttpUtil.isKeepAlive(response)
    val sent = context.writeAndFlush(response)
    if (!keepAlive) sent.addListener(ChannelFutureListener.CLOSE)
    ()
  }

  /**
   * Sends the head, which announces the whole body, and half of the body. Without a body it only
   * closes the connection.
   */
  private def half(context: ChannelHandlerContext, response: FullHttpResponse): Unit = {
    val bytes = response.content.readableBytes / 2
    if (bytes == 0) context.close()
    else {
      context.write(
        new DefaultHttpResponse(response.protocolVersion, response.status, response.headers)
      )
      context
        .writeAndFlush(new DefaultHttpContent(response.content.readRetainedSlice(bytes)))
        .addListener(ChannelFutureListener.CLOSE)
    }
    response.release()
    ()
  }
}
