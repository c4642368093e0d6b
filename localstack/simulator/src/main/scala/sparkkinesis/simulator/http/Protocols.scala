package sparkkinesis.simulator.http

import io.netty.channel._
import io.netty.handler.codec.http._
import io.netty.handler.codec.http2._
import io.netty.util.AsciiString
import org.slf4j.LoggerFactory

/**
 * HTTP/1.1 and HTTP/2 in clear text on one port. A client starts HTTP/2 by prior knowledge or by
 * upgrade. Each HTTP/2 stream is a channel with the same handlers as an HTTP/1.1 connection.
 *
 * @param handler creates the handler of requests, one per channel
 */
private[simulator] final class Protocols(maxRequestBytes: Int, handler: () => ChannelHandler)
    extends ChannelInitializer[Channel] {
  import Protocols._

  override def initChannel(channel: Channel): Unit = {
    val codec = new HttpServerCodec()
    val upgrade = new HttpServerUpgradeHandler(codec, upgraded, maxRequestBytes)
    val priorKnowledge = new ChannelInitializer[Channel] {
      override def initChannel(channel: Channel): Unit = {
        channel.pipeline.addLast(frames(), new Http2Windows, multiplexer(), new BrokenConnections)
        ()
      }
    }
    channel.pipeline.addLast(
      new CleartextHttp2ServerUpgradeHandler(codec, upgrade, priorKnowledge),
      new Http1Requests(upgrade)
    )
    ()
  }

  private def upgraded: HttpServerUpgradeHandler.UpgradeCodecFactory = protocol =>
    if (AsciiString.contentEquals(Http2CodecUtil.HTTP_UPGRADE_PROTOCOL_NAME, protocol))
      new Http2ServerUpgradeCodec(frames(), new Http2Windows, multiplexer())
    else null

  private def multiplexer(): Http2MultiplexHandler =
    new Http2MultiplexHandler(new ChannelInitializer[Channel] {
      override def initChannel(stream: Channel): Unit = {
        stream.pipeline.addLast(
          new Http2StreamFrameToHttpObjectCodec(true),
          new HttpObjectAggregator(maxRequestBytes),
          handler()
        )
        ()
      }
    })

  /**
   * Receives the first request of an HTTP/1.1 connection, after which an upgrade is no longer
   * possible. Bytes and frames of HTTP/2 pass through.
   */
  private final class Http1Requests(upgrade: ChannelHandler) extends BrokenConnections {
    override def channelRead(context: ChannelHandlerContext, message: Any): Unit = message match {
      case _: HttpMessage =>
        val pipeline = context.pipeline
        pipeline.addAfter(context.name, null, handler())
        pipeline.addAfter(context.name, null, new HttpObjectAggregator(maxRequestBytes))
        context.fireChannelRead(message)
        pipeline.remove(upgrade)
        pipeline.remove(this)
        ()
      case _ =>
        context.fireChannelRead(message)
        ()
    }
  }
}

private[simulator] object Protocols {
  private val log = LoggerFactory.getLogger(classOf[Protocols])

  /** Bytes of requests in flight, per stream and per connection. */
  private val StreamWindow = 4 * 1024 * 1024
  private val ConnectionWindow = 32 * 1024 * 1024
  private val MaxStreams = 10000L

  private def frames(): Http2FrameCodec = Http2FrameCodecBuilder
    .forServer()
    .initialSettings(
      Http2Settings.defaultSettings
        .initialWindowSize(StreamWindow)
        .maxConcurrentStreams(MaxStreams)
    )
    // A client may end hundreds of subscriptions at once, so there is no limit of resets.
    .decoderEnforceMaxRstFramesPerWindow(0, 0)
    .build()

  /** Closes a connection that is not HTTP, or that violates HTTP/2. */
  private class BrokenConnections extends ChannelInboundHandlerAdapter {
    override def exceptionCaught(context: ChannelHandlerContext, cause: Throwable): Unit = {
      log.debug("A connection broke", cause)
      context.close()
      ()
    }
  }

  /** Enlarges the window of the connection, for which HTTP/2 has no setting. */
  private final class Http2Windows extends ChannelInboundHandlerAdapter {
    override def handlerAdded(context: ChannelHandlerContext): Unit = {
      val connection = context.pipeline.get(classOf[Http2FrameCodec]).connection
      connection.local.flowController
        .incrementWindowSize(connection.connectionStream, ConnectionWindow)
      ()
    }
  }
}
