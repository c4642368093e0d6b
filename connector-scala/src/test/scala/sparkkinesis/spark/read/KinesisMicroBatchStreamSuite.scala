package sparkkinesis.spark.read

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.aws.{ClientPool, RefusingPort}
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.LocalSpark
import sparkkinesis.spark.errors.ConnectorError

/** The methods that need no service. */
class KinesisMicroBatchStreamSuite extends AnyFunSuite with LocalSpark {
  private def options(port: Int) = Map(
    "streamName" -> "orders",
    "region" -> "eu-west-1",
    "endpoint" -> s"http://127.0.0.1:$port",
    "awsAccessKeyId" -> "ID",
    "awsSecretAccessKey" -> "hush"
  )

  test("it borrows no client until Spark asks for something, and gives all back when it stops") {
    val before = ClientPool.shared.loans
    val checkpoint = newFolder().toString
    RefusingPort.using { port =>
      val access = SourceOptions.parse(options(port), None)
      val stream = new KinesisMicroBatchStream(access, checkpoint)
      assert(ClientPool.shared.loans === before, "Spark may never stop it")
      intercept[ConnectorError](stream.prepareForTriggerAvailableNow())
      assert(ClientPool.shared.loans === before + 1)
      stream.stop()
      assert(ClientPool.shared.loans === before)
    }
  }

  test(
    "an offset that Spark returns, about 90 times per second, stays the same object"
  ) {
    assert(context ne null, "there has to be one")
    val checkpoint = newFolder().toString
    val access = SourceOptions.parse(options(port = 9), None) // not used
    val stream = new KinesisMicroBatchStream(access, checkpoint)
    try {
      val texts = Iterator.continually(offset.sample).flatten.map(OffsetCodec.encode).distinct
      val (one, other) = (texts.next(), texts.next())
      val first = stream.deserializeOffset(one)
      assert(stream.deserializeOffset(other) ne first)
      assert(stream.deserializeOffset(one) eq first)
      assert(first.json === one)
    } finally stream.stop()
  }
}
