package sparkkinesis.source.options

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.arn
import sparkkinesis.client.options.OptionException
import sparkkinesis.model.ConsumerArn

class ConsumerChoiceSuite extends AnyFunSuite {
  private val orders = ConsumerArn(arn, "app", 1700000000)
  private val refunds = orders.copy(stream = arn.copy(name = arn.name.copy(name = "refunds")))

  private def choice(options: (String, String)*): ConsumerChoice =
    SourceOptions
      .parse(Map("streamName" -> "orders", "region" -> arn.region) ++ options, None)
      .consumer

  private def refused(options: (String, String)*): String =
    intercept[OptionException](choice(options: _*)).getMessage

  test("a query polls by default") {
    assert(choice() === ConsumerChoice.Polling && !choice().isFanOut)
    assert(choice("consumerMode" -> "Polling") === ConsumerChoice.Polling)
  }

  test("a consumer has a name, or one ARN per stream") {
    val efo = "consumerMode" -> "efo"
    assert(choice(efo, "consumerName" -> "app") === ConsumerChoice.Named("app"))
    assert(choice(efo, "consumerArn" -> s"$orders") === ConsumerChoice.Given(Seq(orders)))
    val both = choice(
      efo,
      "streamName" -> "orders,refunds",
      "consumerArn" -> s"$refunds, $orders"
    )
    assert(both === ConsumerChoice.Given(Seq(refunds, orders)))
  }

  test("a consumer without the mode, and the mode without a consumer, are refused") {
    assert(refused("consumerName" -> "app").contains("Set 'consumerMode' to 'efo'"))
    assert(refused("consumerMode" -> "efo").contains("Set 'consumerName'"))
    val two = refused("consumerMode" -> "efo", "consumerName" -> "app", "consumerArn" -> s"$orders")
    assert(two.contains("Set only one"))
  }

  test("an ARN of another stream or region is refused") {
    val efo = "consumerMode" -> "efo"
    assert(refused(efo, "consumerArn" -> s"$refunds").contains("has 0 of them"))
    assert(refused(efo, "consumerArn" -> s"$orders,$refunds").contains(s"Remove $refunds"))
    val elsewhere = orders.copy(stream = arn.copy(region = "us-east-1"))
    assert(refused(efo, "consumerArn" -> s"$elsewhere").contains("has 0 of them"))
  }
}
