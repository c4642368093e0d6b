package org.apache.spark.sparkkinesis

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.Promise
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.rpc.{RpcAddress, RpcEndpointAddress, RpcEndpointRef}
import org.apache.spark.{SparkEnv, SparkException}

import sparkkinesis.spark.LocalSpark

class DriverLinkSuite extends AnyFunSuite with LocalSpark {
  private def bytes(text: String): Array[Byte] = text.getBytes(UTF_8)

  private def serving(name: String)(answer: String => String): AutoCloseable =
    DriverRpc.serve(name)((_, question) => bytes(answer(new String(question, UTF_8))))(_ => ())

  private def ask(link: DriverLink, question: String): Option[String] =
    link.ask(bytes(question)).map(new String(_, UTF_8))

  test("the driver is looked up once, and again after it failed to answer") {
    val lookups = new AtomicInteger
    val link = new DriverLink(
      "echo",
      10.seconds,
      { (env: SparkEnv, name: String) =>
        lookups.incrementAndGet()
        val address =
          RpcAddress(env.conf.get("spark.driver.host"), env.conf.getInt("spark.driver.port", 0))
        env.rpcEnv.asyncSetupEndpointRefByURI(RpcEndpointAddress(address, name).toString)
      }
    )
    val endpoint = serving("echo")(text => if (text == "bad") sys.error("refused") else text * 2)
    try {
      assert(Seq("a", "b", "c").flatMap(ask(link, _)) === Seq("aa", "bb", "cc"))
      assert(lookups.get === 1)
      assert(intercept[SparkException](ask(link, "bad")).getCause.getMessage.contains("refused"))
      assert(ask(link, "d") === Some("dd") && lookups.get === 2)
    } finally endpoint.close()
  }

  test("a name that is no longer served, or never was, returns no answer") {
    val link = new DriverLink("gone", 10.seconds)
    assert(ask(link, "a") === None)
    val endpoint = serving("gone")(identity)
    assert(ask(link, "a") === Some("a"))
    endpoint.close()
    assert(ask(link, "a") === None && ask(link, "a") === None)
  }

  test("a message that is not bytes is refused, and the endpoint goes on") {
    val endpoint = serving("strict")(identity)
    val conf = SparkEnv.get.conf
    val address = RpcAddress(conf.get("spark.driver.host"), conf.getInt("spark.driver.port", 0))
    val foreign = SparkEnv.get.rpcEnv.setupEndpointRef(address, "strict")
    try {
      intercept[SparkException](foreign.askSync[Any]("text"))
      foreign.send("text")
      assert(ask(new DriverLink("strict", 10.seconds), "a") === Some("a"))
    } finally endpoint.close()
  }

  test("the look-up of a driver that does not respond waits only as long as requested") {
    val silent = Promise[RpcEndpointRef]().future
    val link = new DriverLink("silent", 50.millis, (_, _) => silent)
    intercept[TimeoutException](ask(link, "a"))
  }
}
