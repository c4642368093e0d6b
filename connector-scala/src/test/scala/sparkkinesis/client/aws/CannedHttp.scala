package sparkkinesis.client.aws

import java.io.ByteArrayInputStream
import java.net.URI

import scala.jdk.CollectionConverters._

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor
import software.amazon.awssdk.http._
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient}

/** Keeps what the SDK sends, and answers without a network. */
private[aws] final class CannedHttp extends SdkHttpClient {
  @volatile var answer: Array[Byte] = Array(0xa0.toByte)
  @volatile var status = 200
  @volatile var answerHeaders: Map[String, String] = Map.empty
  @volatile var sent: Array[Byte] = Array.emptyByteArray
  @volatile var headers: SdkHttpRequest = _

  /** The SDK over this; without our interceptors it does all by itself. */
  def client(interceptors: ExecutionInterceptor*): SdkClient = SdkClient
    .builder()
    .region(Region.EU_WEST_1)
    .endpointOverride(URI.create("http://127.0.0.1:1"))
    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("a", "b")))
    .httpClient(this)
    .overrideConfiguration { c =>
      interceptors.foreach(c.addExecutionInterceptor)
      c.retryStrategy(AwsRetryStrategy.doNotRetry())
      ()
    }
    .build()

  override def prepareRequest(request: HttpExecuteRequest): ExecutableHttpRequest =
    new ExecutableHttpRequest {
      override def call(): HttpExecuteResponse = {
        headers = request.httpRequest
        sent = request.contentStreamProvider.get.newStream().readAllBytes()
        HttpExecuteResponse
          .builder()
          .response(
            SdkHttpResponse
              .builder()
              .statusCode(status)
              .headers(
                (answerHeaders + ("Content-Type" -> "application/x-amz-cbor-1.1")).map {
                  case (name, value) => name -> java.util.List.of(value)
                }.asJava
              )
              .build()
          )
          .responseBody(AbortableInputStream.create(new ByteArrayInputStream(answer)))
          .build()
      }

      override def abort(): Unit = ()
    }

  override def close(): Unit = ()
}
