package sparkkinesis.client.aws

import java.io.ByteArrayInputStream
import java.net.URI

import scala.util.{Failure, Success, Try}

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.http._
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient}

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model._

/** What is read in place is what the SDK would have read. */
class GetRecordsCborLawSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import CborPages._

  private implicit val noShrink: Shrink[Array[Byte]] = Shrink.shrinkAny

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 20000)

  /** A page of few bytes, so that any of them is often the one that is garbled. */
  private val small: Gen[Array[Byte]] = for {
    key <- Gen.oneOf(None, Some("k"), Some("ключ"))
    encryption <- Gen.oneOf(None, Some("NONE"), Some("KMS"))
    arrival <- Gen.oneOf(0L, 5L, 1700000000123L)
    next <- Gen.oneOf(None, Some(ShardIterator("n")))
    isSized <- Gen.oneOf(true, false)
    hasMore <- Gen.oneOf(true, false)
    count <- Gen.choose(0, 2)
    record = Record(SequenceNumber("12"), key, Array[Byte](1, 2), arrival, encryption)
  } yield encoded(Page(Vector.fill(count)(record), next, 7, Nil), isSized, hasMore)

  /** Heads of every kind and length, more often than chance has them. */
  private val anyByte: Gen[Byte] = Gen.oneOf(
    Gen.choose(Byte.MinValue, Byte.MaxValue),
    Gen.oneOf(0x18, 0x1b, 0x20, 0x3b, 0x40, 0x5f, 0x60, 0x7f, 0x80, 0x9f, 0xa0, 0xbf).map(_.toByte),
    Gen.oneOf(0xc0, 0xc1, 0xf4, 0xf5, 0xf6, 0xf7, 0xf9, 0xfa, 0xfb, 0xff).map(_.toByte)
  )

  private val garbled: Gen[Array[Byte]] = for {
    bytes <- small
    at <- Gen.choose(0, bytes.length - 1)
    by <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, anyByte))
    replaced <- Gen.choose(0, 3)
  } yield bytes.patch(at, by, replaced)

  test("a garbled answer that is read in place is read as the SDK reads it") {
    forAll(garbled) { bytes =>
      GetRecordsCbor.decode(bytes).foreach { page =>
        bySdk(bytes) match {
          case Success(other) => assert(comparable(page) === comparable(other), hex(bytes))
          case Failure(e) => fail(s"$e: ${comparable(page)}: ${hex(bytes)}")
        }
      }
    }
  }

  private def comparable(page: Page) = (
    page.records.map { r =>
      (r.sequenceNumber.text, r.partitionKey, r.data.toSeq, r.arrivalMillis, r.encryptionType)
    },
    page.next,
    page.millisBehindLatest,
    page.children
  )

  private def hex(bytes: Array[Byte]): String = java.util.HexFormat.of.formatHex(bytes)

  private def bySdk(answer: Array[Byte]): Try[Page] = {
    Canned.body = answer
    Try(client.getRecords(StreamRef.ByName(StreamName("orders")), ShardIterator("at"), 100))
  }

  private lazy val client = new AwsKinesisClient(
    SdkClient
      .builder()
      .region(Region.EU_WEST_1)
      .endpointOverride(URI.create("http://127.0.0.1:1"))
      .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("a", "b")))
      .httpClient(Canned)
      .overrideConfiguration { c => c.retryStrategy(AwsRetryStrategy.doNotRetry()); () }
      .build(),
    "nowhere",
    () => ()
  )

  /** Answers without a network. */
  private object Canned extends SdkHttpClient {
    @volatile var body: Array[Byte] = Array.emptyByteArray

    override def prepareRequest(request: HttpExecuteRequest): ExecutableHttpRequest =
      new ExecutableHttpRequest {
        override def call(): HttpExecuteResponse = HttpExecuteResponse
          .builder()
          .response(
            SdkHttpResponse
              .builder()
              .statusCode(200)
              .putHeader("Content-Type", "application/x-amz-cbor-1.1")
              .build()
          )
          .responseBody(AbortableInputStream.create(new ByteArrayInputStream(body)))
          .build()

        override def abort(): Unit = ()
      }

    override def close(): Unit = ()
  }
}
