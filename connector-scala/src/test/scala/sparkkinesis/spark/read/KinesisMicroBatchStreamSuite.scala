package sparkkinesis.spark.read

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import org.apache.hadoop.fs.RawLocalFileSystem
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.internal.SQLConf

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

  test("the first offset is read with the session's settings of its file system, as Spark does") {
    assert(context ne null, "there has to be one")
    val folder = newFolder()
    val first = Iterator.continually(offset.sample).flatten.next()
    Files.write(folder.resolve("initial-offset.json"), OffsetCodec.encode(first).getBytes(UTF_8))
    val session = new SQLConf
    session.setConfString("fs.session-only.impl", classOf[SessionFileSystem].getName)
    val access = SourceOptions.parse(options(port = 9), None) // not used
    val stream = new KinesisMicroBatchStream(access, s"session-only:$folder")
    try assert(SQLConf.withExistingConf(session)(stream.initialOffset()) === KinesisOffset(first))
    finally stream.stop()
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

/** A file system that only the settings of a session name. */
class SessionFileSystem extends RawLocalFileSystem {
  override def getUri: URI = URI.create("session-only:///")
  override def getScheme: String = "session-only"
}
