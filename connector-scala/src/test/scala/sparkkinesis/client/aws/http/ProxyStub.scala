package sparkkinesis.client.aws.http

import java.io.{InputStream, OutputStream}
import java.net.{InetAddress, ServerSocket, Socket, URI}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Try

/**
 * An HTTP proxy on this machine.
 *
 * @param target port of this machine to which it connects, whatever host a client asks for; if
 *   there is none, it refuses
 */
final class ProxyStub(target: Option[Int]) extends AutoCloseable {
  import ProxyStub._

  private val heads = new ConcurrentLinkedQueue[Seq[String]]
  private val server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)
  private val sockets = new ConcurrentLinkedQueue[Socket]

  val uri: URI = URI.create(s"http://127.0.0.1:${server.getLocalPort}")

  /** First line and headers of each request. */
  def requests: Seq[Seq[String]] = heads.asScala.toSeq

  /** The hosts that clients asked for, in order. */
  def hosts: Seq[String] = requests.map(_.head.split(" ")(1).takeWhile(_ != ':'))

  start(() => while (!server.isClosed) accept())

  private def accept(): Unit = Try(server.accept()).foreach { socket =>
    sockets.add(socket)
    start(() => serve(socket))
  }

  private def serve(client: Socket): Unit = {
    val (in, out) = (client.getInputStream, client.getOutputStream)
    heads.add(head(in))
    target match {
      case None =>
        out.write(
          "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n".getBytes
        )
      case Some(port) =>
        val there = new Socket(InetAddress.getLoopbackAddress, port)
        sockets.add(there)
        out.write("HTTP/1.1 200 Connection established\r\n\r\n".getBytes)
        start(() => copy(there.getInputStream, out))
        copy(in, there.getOutputStream)
    }
  }

  override def close(): Unit = {
    server.close()
    sockets.forEach(_.close())
  }
}

private object ProxyStub {
  private def start(work: () => Unit): Unit = {
    val thread = new Thread(() => Try(work()): Unit, "proxy-stub")
    thread.setDaemon(true)
    thread.start()
  }

  private def head(in: InputStream): Seq[String] = {
    val text = new StringBuilder
    while (!text.endsWith("\r\n\r\n")) text.append(in.read().toByte.toChar)
    new String(text.toString.getBytes(ISO_8859_1), ISO_8859_1).split("\r\n").toSeq
  }

  private def copy(from: InputStream, to: OutputStream): Unit = { from.transferTo(to); () }
}
