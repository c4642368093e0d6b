package sparkkinesis.simulator.http

import java.util.concurrent.TimeUnit

import io.netty.channel.socket.SocketChannel
import io.netty.channel.{ChannelFutureListener, ChannelHandlerContext}
import io.netty.handler.codec.http._

import sparkkinesis.simulator.fault.Fault

/** Responses on their way to the client, with what goes wrong there. Nothing waits on the event loop. */
private[http] object ConnectionFaults {

  /** Takes the response over. */
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

  /** The beginning of a stream of events, which has no half. */
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

  /** The client sees the connection reset, not merely ended. */
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

  /** The head announces the whole body, of which half follows; without a body nothing comes. */
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
