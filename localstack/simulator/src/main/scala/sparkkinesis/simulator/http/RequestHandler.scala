package sparkkinesis.simulator.http

import java.io.IOException
import java.time.ZoneOffset
import java.time.format.DateTimeFormatter
import java.util.concurrent.atomic.AtomicLong

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import io.netty.buffer.{ByteBuf, ByteBufOutputStream, ByteBufUtil, Unpooled}
import io.netty.channel.{ChannelHandlerContext, SimpleChannelInboundHandler}
import io.netty.handler.codec.http._
import org.slf4j.LoggerFactory

import sparkkinesis.simulator.fanout.Subscribed
import sparkkinesis.simulator.fault.Fault
import sparkkinesis.simulator.http.action.{Action, Actions}
import sparkkinesis.simulator.http.admin.AdminEndpoint
import sparkkinesis.simulator.http.response.{EventFrames, Responses, SubscriptionPush}
import sparkkinesis.simulator.http.wire.{BadRequest, Caller, Fields, WireFormat}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.{ErrorCode, Failure}

/**
 * Answers one HTTP request with one response. It runs on the event loop, because it waits only for
 * the lock of changes and for the journal's write. A slow disk therefore delays the other
 * connections of the same loop.
 */
private[simulator] final class RequestHandler(kinesis: SimulatedKinesis, requests: AtomicLong)
    extends SimpleChannelInboundHandler[FullHttpRequest] {
  import RequestHandler._

  private val admin = new AdminEndpoint(kinesis)

  override def channelRead0(context: ChannelHandlerContext, request: FullHttpRequest): Unit = {
    val format = WireFormat.of(Option(request.headers.get(HttpHeaderNames.CONTENT_TYPE)))
    try {
      WebPages.refusal(request.headers).foreach(refused => throw new BadRequest(refused))
      if (request.uri.startsWith(AdminEndpoint.Prefix)) administer(context, request)
      else if (request.decoderResult.isFailure)
        throw BadRequest.serialization("The request is not HTTP.")
      else serve(context, request, format)
    } catch {
      case bad: BadRequest => refuse(context, request, format, bad.failure)
      case NonFatal(e) =>
        log.error(s"${request.method} ${request.uri} failed", e)
        val failure =
          Failure.Refused(ErrorCode.InternalFailure, "The simulator failed; see its log.")
        refuse(context, request, format, failure)
    }
  }

  /** The client closed or broke the connection, so nothing can be answered. */
  override def exceptionCaught(context: ChannelHandlerContext, cause: Throwable): Unit = {
    log.debug("A connection broke", cause)
    context.close()
    ()
  }

  private def administer(context: ChannelHandlerContext, request: FullHttpRequest): Unit = {
    val body = ByteBufUtil.getBytes(request.content)
    val answer = admin.answer(request.method.name, request.uri, body)
    send(context, request, answer.status, Json, Unpooled.wrappedBuffer(answer.body), None, None)
  }

  private def serve(
      context: ChannelHandlerContext,
      request: FullHttpRequest,
      format: WireFormat
  ): Unit = {
    val called = action(request) // before the body, so that its error comes first
    val fields = new Fields(parse(request, format), format, caller(request))
    answer(context, request, format, called, fields)
  }

  private def answer[A](
      context: ChannelHandlerContext,
      request: FullHttpRequest,
      format: WireFormat,
      action: Action[A],
      fields: Fields
  ): Unit = {
    val reply = kinesis.reply(action.read(fields))
    reply.answer match {
      case Right(subscribed: Subscribed) =>
        ConnectionFaults.begin(context, reply.fault)(stream(context, subscribed))
      case Right(answer) =>
        val size = Responses.sizeHint(answer, format)
        val body = written(context, size, format)(action.write(_)(answer))
        send(context, request, 200, format.contentType, body, None, reply.fault)
      case Left(refused: Failure.Refused) => refuse(context, request, format, refused, reply.fault)
      case Left(Failure.NoAnswer) => ConnectionFaults.reset(context)
    }
  }

  private def refuse(
      context: ChannelHandlerContext,
      request: FullHttpRequest,
      format: WireFormat,
      failure: Failure.Refused,
      fault: Option[Fault.OfConnection] = None
  ): Unit = {
    val body = written(context, 512, format)(_.failure(failure.code, failure.message))
    send(context, request, failure.code.status, format.contentType, body, Some(failure.code), fault)
  }

  private def stream(context: ChannelHandlerContext, subscribed: Subscribed): Unit = {
    val response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK)
    describe(response, EventFrames.ContentType)
    HttpUtil.setTransferEncodingChunked(response, true)
    context.writeAndFlush(response)
    context.pipeline.addBefore(context.name, null, new SubscriptionPush(kinesis, subscribed))
    ()
  }

  private def written(context: ChannelHandlerContext, size: Int, format: WireFormat)(
      write: Responses => Unit
  ): ByteBuf = {
    val body = context.alloc.buffer(size)
    try {
      val generator = format.generator(new ByteBufOutputStream(body))
      write(new Responses(generator, format))
      generator.close()
      body
    } catch {
      case NonFatal(e) =>
        body.release()
        throw e
    }
  }

  private def send(
      context: ChannelHandlerContext,
      request: FullHttpRequest,
      status: Int,
      contentType: String,
      body: ByteBuf,
      error: Option[ErrorCode],
      fault: Option[Fault.OfConnection]
  ): Unit = {
    val response =
      new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), body)
    val headers = response.headers
    describe(response, contentType)
    headers.setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes)
    error.foreach(code => headers.set("x-amzn-ErrorType", code.name))
    val keepAlive = HttpUtil.isKeepAlive(request) && request.decoderResult.isSuccess
    HttpUtil.setKeepAlive(response, keepAlive)
    ConnectionFaults.send(context, response, fault)
  }

  private def describe(response: HttpResponse, contentType: String): Unit = {
    val headers = response.headers
    headers.set(HttpHeaderNames.CONTENT_TYPE, contentType)
    headers.set(HttpHeaderNames.DATE, HttpDate.format(kinesis.now.atOffset(ZoneOffset.UTC)))
    headers.set("x-amzn-RequestId", requestId(requests.incrementAndGet()))
    ()
  }
}

private[simulator] object RequestHandler {
  private val log = LoggerFactory.getLogger(classOf[RequestHandler])
  private val Json = "application/json"
  private val HttpDate = DateTimeFormatter.RFC_1123_DATE_TIME
  private val Target = "Kinesis_\\d{8}\\.(\\w+)".r
  private val Scope = "Credential=([^/,]*)/\\d+/([a-z0-9-]+)/".r.unanchored
  private val Account = "\\d{12}".r

  private def action(request: FullHttpRequest): Action[_] =
    Option(request.headers.get("X-Amz-Target"))
      .filter(_ => request.method == HttpMethod.POST)
      .collect { case Target(name) => name }
      .flatMap(Actions.byName.get)
      .getOrElse(
        throw new BadRequest(Failure.Refused(ErrorCode.UnknownOperation, unknown(request)))
      )

  private def unknown(request: FullHttpRequest): String =
    s"${request.method} ${request.uri} with X-Amz-Target " +
      s"'${Option(request.headers.get("X-Amz-Target")).getOrElse("")}' is not an operation of " +
      "this service."

  private def parse(request: FullHttpRequest, format: WireFormat): JsonNode = {
    val bytes = ByteBufUtil.getBytes(request.content)
    try format.parse(bytes)
    catch {
      case _: IOException =>
        throw BadRequest.serialization(s"The body is not ${format.contentType}.")
    }
  }

  /** Accepts any signature. Its scope has the region, and a key id of 12 digits is the account. */
  private def caller(request: FullHttpRequest): Caller =
    Option(request.headers.get(HttpHeaderNames.AUTHORIZATION)) match {
      case Some(Scope(account @ Account(), region)) => Caller(region, account)
      case Some(Scope(_, region)) => Caller(region, SimulatedKinesis.Account)
      case _ => Caller(SimulatedKinesis.Region, SimulatedKinesis.Account)
    }

  private def requestId(number: Long): String = f"00000000-0000-4000-8000-$number%012x"
}
