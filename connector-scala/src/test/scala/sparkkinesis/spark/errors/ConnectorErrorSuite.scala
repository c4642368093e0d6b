package sparkkinesis.spark.errors

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.apache.logging.log4j.Level
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.ErrorCondition
import sparkkinesis.client.KinesisException._
import sparkkinesis.client.options.OptionException
import sparkkinesis.spark.LogTap

class ConnectorErrorSuite extends AnyFunSuite {
  private final class NotSerializable

  private final class Unsendable extends RuntimeException {
    val what = new NotSerializable
  }

  private def travelled(error: ConnectorError): ConnectorError = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(error)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
      .readObject()
      .asInstanceOf[ConnectorError]
  }

  test("a failure of the service becomes an error with a condition and a remedy") {
    val failure = new NotFound("No stream orders.")
    val error = intercept[ConnectorError](ConnectorError.translating(throw failure))
    assert(error.getCondition === "KINESIS_STREAM_NOT_FOUND" && error.getSqlState === "KD000")
    val text = s"No stream orders. ${ErrorCondition.of(failure).remedy}"
    assert(error.getMessage === s"[KINESIS_STREAM_NOT_FOUND] $text")
  }

  test("an option error keeps its condition and text") {
    val failure = OptionException.missing("Which stream?")
    val error = intercept[ConnectorError](ConnectorError.translating(throw failure))
    assert(error.getMessage === "[KINESIS_MISSING_OPTION] Which stream?")
    assert(error.getMessageParameters.get("message") === "Which stream?")
  }

  test("a class or method that this Spark lacks has a condition of its own") {
    val missing = Seq(
      new NoSuchMethodError("'void org.apache.spark.rpc.RpcEnv.stop(RpcEndpointRef)'"),
      new NoClassDefFoundError("org/apache/spark/sql/connector/read/InputPartition")
    )
    missing.foreach { failure =>
      val error = intercept[ConnectorError](ConnectorError.translating(throw failure))
      assert(error.getCondition === "KINESIS_UNSUPPORTED_SPARK")
      assert(error.getMessage.contains(failure.getMessage))
      assert(error.getMessage.contains(org.apache.spark.SPARK_VERSION))
    }
  }

  test("a class that is missing elsewhere keeps its own error") {
    val missing = Seq("com/example/Codec", "org/apache/spark/sparkkinesis/Messages")
    missing.foreach { name =>
      val failure = new NoClassDefFoundError(name)
      val thrown = intercept[NoClassDefFoundError](ConnectorError.translating(throw failure))
      assert(thrown eq failure)
    }
  }

  test("a failure with a known condition is one line at WARN, and its stack is logged at DEBUG") {
    val failure = new Unreachable("no answer", new Unsendable)
    val noted = LogTap.of(classOf[ConnectorError])(ConnectorError.of(failure))
    val (warnings, others) = noted.partition(_.getLevel === Level.WARN)
    assert(
      warnings.map(_.getMessage.getFormattedMessage) === Seq(ConnectorError.of(failure).getMessage)
    )
    assert(warnings.forall(_.getThrown == null))
    assert(others.map(_.getThrown) === Seq(failure) && others.head.getLevel === Level.DEBUG)
  }

  test("a failure without a known condition logs its stack at once, as its remedy refers to it") {
    val failure = new Other("odd")
    val noted = LogTap.of(classOf[ConnectorError])(ConnectorError.of(failure))
    assert(noted.map(it => it.getLevel -> it.getThrown) === Seq(Level.WARN -> failure))
  }

  test("an error can be serialized, whatever its cause") {
    val error = ConnectorError.of(new Unreachable("no answer", new Unsendable))
    val arrived = travelled(error)
    assert(arrived.getMessage === error.getMessage)
    assert(arrived.getCondition === "KINESIS_UNREACHABLE")
    assert(arrived.getMessageParameters === error.getMessageParameters)
    assert(arrived.getStackTrace.toSeq === error.getStackTrace.toSeq)
  }
}
