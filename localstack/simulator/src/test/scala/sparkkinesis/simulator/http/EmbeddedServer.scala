package sparkkinesis.simulator.http

import java.io.ByteArrayOutputStream
import java.util.concurrent.atomic.AtomicLong

import scala.annotation.tailrec

import io.netty.buffer.{ByteBuf, UnpooledByteBufAllocator}
import io.netty.channel.embedded.EmbeddedChannel

import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.service.SimulatedKinesis

/** The server's own pipeline without a socket; every byte of its buffers is counted. */
private[http] final class EmbeddedServer(kinesis: SimulatedKinesis) {
  private val allocator = new UnpooledByteBufAllocator(false)
  private val requests = new AtomicLong
  private var connection = connect()

  /** Sends a request over the open connection, or over a new one if it was closed. */
  def ask(request: Array[Byte]): Array[Byte] = {
    if (!connection.isOpen) reconnect()
    send(request)
    received()
  }

  /** Sends parts of a request over a new connection, and closes it. */
  def tell(parts: Iterator[Array[Byte]]): Array[Byte] = {
    reconnect()
    parts.takeWhile(_ => connection.isOpen).foreach(send)
    val answers = received()
    reconnect()
    answers
  }

  /** Closes the connection, even if a response is pending. */
  def reconnect(): Unit = {
    connection.finishAndReleaseAll()
    connection = connect()
  }

  /** Bytes of buffers that are not released. */
  def heldBytes: Long = allocator.metric.usedHeapMemory + allocator.metric.usedDirectMemory

  private def connect(): EmbeddedChannel = {
    val channel = new EmbeddedChannel(KinesisServer.pipeline(kinesis, requests))
    channel.config.setAllocator(allocator)
    channel
  }

  private def send(bytes: Array[Byte]): Unit = {
    connection.writeInbound(allocator.heapBuffer(bytes.length).writeBytes(bytes))
    connection.runPendingTasks()
  }

  private def received(): Array[Byte] = {
    val out = new ByteArrayOutputStream()
    @tailrec def more(): Unit = Option(connection.readOutbound[ByteBuf]()) match {
      case Some(part) =>
        part.readBytes(out, part.readableBytes)
        part.release()
        more()
      case None => ()
    }
    more()
    out.toByteArray
  }
}
