package sparkkinesis.simulator.fault

import scala.concurrent.duration._

import org.scalatest.BeforeAndAfterAll
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.core.exception.SdkClientException
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.model.PutRecordRequest
import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient}

import sparkkinesis.client.KinesisClient
import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.simulator.contract.FaultContract
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.{KinesisServer, LocalClient}

/** The faults as AWS's SDK sees them, which does not retry here. */
final class HttpFaultsSuite extends FaultContract with BeforeAndAfterAll {
  private lazy val server = KinesisServer.start(kinesis = kinesis)

  override protected lazy val client: KinesisClient =
    AwsClientFactory.create(LocalClient.config(server.endpoint))

  /** Waits for an answer for a short while only. */
  private lazy val impatient = SdkClient
    .builder()
    .region(Region.of(SimulatedKinesis.Region))
    .endpointOverride(server.endpoint)
    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "key")))
    .httpClientBuilder(
      Apache5HttpClient.builder().socketTimeout(java.time.Duration.ofMillis(300))
    )
    .overrideConfiguration(_.retryStrategy(AwsRetryStrategy.doNotRetry()): Unit)
    .build()

  override protected def afterAll(): Unit = {
    impatient.close()
    client.close()
    server.close()
  }

  test("a call that times out has its effect, and delays no other call") {
    val f = new Fixture
    val stalled = 2 * Runtime.getRuntime.availableProcessors + 1 // one more than event loops
    f.strike(Fault.Stalled(1.hour), times = stalled)
    (1 to stalled).foreach { i =>
      intercept[SdkClientException](
        impatient.putRecord(
          PutRecordRequest
            .builder()
            .streamName(f.stream.name.name)
            .partitionKey("k")
            .data(SdkBytes.fromUtf8String(i.toString))
            .build()
        )
      )
    }
    assert(f.data == (1 to stalled).map(_.toString))
  }
}
