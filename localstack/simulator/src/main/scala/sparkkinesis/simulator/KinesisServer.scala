package sparkkinesis.simulator

import java.net.{InetAddress, InetSocketAddress, URI}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import io.netty.bootstrap.ServerBootstrap
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.channel.socket.nio.NioServerSocketChannel
import io.netty.channel.{Channel, ChannelInitializer, ChannelOption}
import io.netty.util.concurrent.DefaultThreadFactory

import sparkkinesis.client.SystemClock
import sparkkinesis.simulator.http.{Protocols, RequestHandler}
import sparkkinesis.simulator.service.SimulatedKinesis

/**
 * The local Kinesis over HTTP/1.1 and HTTP/2, only on the loopback address. Its daemon threads end
 * with `close`.
 *
 * @param kinesis the service; tests may also call it directly
 */
final class KinesisServer private (
    val kinesis: SimulatedKinesis,
    group: NioEventLoopGroup,
    channel: Channel
) extends AutoCloseable {
  private val closing = new AtomicBoolean

  /** The URL of the server, for example `http://127.0.0.1:4567`. */
  val endpoint: URI = channel.localAddress match {
    case address: InetSocketAddress => URI.create(s"http://127.0.0.1:${address.getPort}")
    case other => throw new IllegalStateException(s"The server listens on $other, not on a port.")
  }

  /** Returns when the server has been closed. */
  def awaitClosed(): Unit = {
    channel.closeFuture.sync()
    ()
  }

  /** Ends open connections too. A second caller waits until the first one is done. */
  override def close(): Unit = {
    if (closing.compareAndSet(false, true)) channel.close().sync()
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync()
    ()
  }
}

object KinesisServer {

  /** Larger than any valid request: 10 MiB of records in base64, with their keys. */
  private val MaxRequestBytes = 32 * 1024 * 1024

  /** @param port 0 for any free port; throws `BindException` if the port is in use */
  def start(
      port: Int = 0,
      kinesis: SimulatedKinesis = new SimulatedKinesis(SystemClock)
  ): KinesisServer = {
    val group = new NioEventLoopGroup(0, new DefaultThreadFactory("kinesis-simulator", true))
    val requests = new AtomicLong
    val bootstrap = new ServerBootstrap()
      .group(group)
      .channel(classOf[NioServerSocketChannel])
      .childOption[java.lang.Boolean](ChannelOption.TCP_NODELAY, true)
      .childHandler(pipeline(kinesis, requests))
    val bound = bootstrap.bind(new InetSocketAddress(InetAddress.getLoopbackAddress, port))
    if (!bound.await().isSuccess) {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS)
      throw bound.cause
    }
    new KinesisServer(kinesis, group, bound.channel)
  }

  /** The handlers of a connection. */
  private[simulator] def pipeline(
      kinesis: SimulatedKinesis,
      requests: AtomicLong
  ): ChannelInitializer[Channel] =
    new Protocols(MaxRequestBytes, () => new RequestHandler(kinesis, requests))
}
