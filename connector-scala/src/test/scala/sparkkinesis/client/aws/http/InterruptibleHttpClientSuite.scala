package sparkkinesis.client.aws.http

import java.net.{InetAddress, InetSocketAddress, URI}

import com.sun.net.httpserver.HttpServer
import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient}

import sparkkinesis.client.aws.AwsKinesisClient
import sparkkinesis.client.{KinesisException, ListShardsRequest}
import sparkkinesis.model.{StreamName, StreamRef}

class InterruptibleHttpClientSuite extends AnyFunSuite {
  private val emptyMap = Array(0xa0.toByte) // in CBOR

  /** Answers every request with this status. */
  private def serving[A](status: Int)(use: URI => A): A = {
    val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    server.createContext(
      "/",
      exchange => {
        exchange.getRequestBody.readAllBytes()
        exchange.getResponseHeaders.add("Content-Type", "application/x-amz-cbor-1.1")
        exchange.sendResponseHeaders(status, emptyMap.length.toLong)
        exchange.getResponseBody.write(emptyMap)
        exchange.close()
      }
    )
    server.start()
    try use(URI.create(s"http://127.0.0.1:${server.getAddress.getPort}"))
    finally server.stop(0)
  }

  test("a completed request is no longer tracked, whatever its response") {
    Seq(200, 400, 500).foreach { status =>
      serving(status) { endpoint =>
        val http = new InterruptibleHttpClient(Apache5HttpClient.create())
        val sdk = SdkClient
          .builder()
          .region(Region.EU_WEST_1)
          .endpointOverride(endpoint)
          .httpClient(http)
          .overrideConfiguration(_.retryStrategy(AwsRetryStrategy.doNotRetry()): Unit)
          .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("ID", "hush"))
          )
          .build()
        try {
          val port = new AwsKinesisClient(sdk, "there", () => ())
          val call = () => port.listShards(ListShardsRequest.Next(orders, "t"))
          if (status == 200) assert(call().shards.isEmpty)
          else assertThrows[KinesisException](call())
          assert(http.requestsInFlight === 0)
        } finally {
          sdk.close()
          http.close()
        }
      }
    }
  }

  private def orders =
    StreamRef.ByName(StreamName("orders"))
}
