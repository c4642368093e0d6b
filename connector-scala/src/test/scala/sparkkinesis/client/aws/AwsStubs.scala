package sparkkinesis.client.aws

import java.net.{InetAddress, InetSocketAddress, URI}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.util.concurrent.{ConcurrentLinkedQueue, Executors}

import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._

import com.sun.net.httpserver.{HttpExchange, HttpServer}

import sparkkinesis.client.SystemClock

/** A server on this machine whose answers a test makes up. */
final class HttpStub(answer: HttpExchange => HttpStub.Answer) extends AutoCloseable {
  private val threads = Executors.newCachedThreadPool { task =>
    val thread = new Thread(task, "http-stub")
    thread.setDaemon(true)
    thread
  }
  private val server =
    HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 50)
  server.createContext(
    "/",
    exchange =>
      try {
        exchange.getRequestBody.readAllBytes()
        val answered = answer(exchange)
        exchange.getResponseHeaders.add("Content-Type", answered.contentType)
        exchange.sendResponseHeaders(answered.status, answered.body.length.toLong)
        exchange.getResponseBody.write(answered.body)
      } finally exchange.close()
  )
  server.setExecutor(threads)
  server.start()

  val endpoint: URI = URI.create(s"http://127.0.0.1:${server.getAddress.getPort}")

  override def close(): Unit = {
    server.stop(0)
    threads.shutdownNow(): Unit
  }
}

object HttpStub {
  final case class Answer(status: Int, contentType: String, body: Array[Byte])

  /** The body of an error, in CBOR as Kinesis sends it: a map of one short text. */
  def failure(code: String): Array[Byte] = {
    def text(said: String) = Array(0x78.toByte, said.length.toByte) ++ said.getBytes(UTF_8)
    0xa1.toByte +: (text("__type") ++ text(code))
  }
}

/**
 * A role service whose credentials live as long as a test says, the nth with key `KEYn`.
 *
 * @param trouble whether it fails at the moment
 */
final class RoleService(life: FiniteDuration, trouble: () => Boolean) extends AutoCloseable {
  private val issued = new ConcurrentLinkedQueue[Instant]

  /** When each of the keys issued so far expires. */
  def expiries: Seq[Instant] = issued.asScala.toSeq

  private val stub = new HttpStub(_ =>
    if (trouble()) HttpStub.Answer(503, "text/xml", RoleService.Busy.getBytes(UTF_8))
    else HttpStub.Answer(200, "text/xml", next().getBytes(UTF_8))
  )

  def endpoint: URI = stub.endpoint

  private def next(): String = synchronized {
    issued.add(SystemClock.now.plusMillis(life.toMillis))
    RoleService.assumed(s"KEY${issued.size}", expiries.last)
  }

  override def close(): Unit = stub.close()
}

object RoleService {
  private val Busy =
    "<ErrorResponse><Error><Code>ServiceUnavailable</Code><Message>busy</Message></Error>" +
      "</ErrorResponse>"

  private def assumed(key: String, expiry: Instant): String =
    "<AssumeRoleResponse><AssumeRoleResult><Credentials>" +
      s"<AccessKeyId>$key</AccessKeyId><SecretAccessKey>hush</SecretAccessKey>" +
      s"<SessionToken>token-of-$key</SessionToken><Expiration>$expiry</Expiration>" +
      "</Credentials></AssumeRoleResult></AssumeRoleResponse>"
}
