package sparkkinesis.simulator.contract

import scala.annotation.tailrec

import sparkkinesis.client.{ConsumerRef, ConsumerStatus, KinesisException}
import sparkkinesis.model.StreamRef
import sparkkinesis.simulator.sdk.FanOutReading

/** Consumers of enhanced fan-out. */
trait ConsumerContract extends FanOutReading { this: ContractFixture =>
  contract("RegisterStreamConsumer", "a consumer belongs to its stream and is listed") {
    val arn = client.describeStream(newStream(1)).arn
    val made = fanOut.register(arn, "one")
    assert(made.arn.stream == arn && made.arn.name == "one")
    fanOut.register(arn, "two")
    assert(fanOut.list(arn, None, 100).consumers.map(_.arn.name).toSet == Set("one", "two"))
  }

  contract("DescribeStreamConsumer", "a consumer is described by its ARN, and by its name") {
    val arn = client.describeStream(newStream(1)).arn
    val made = fanOut.register(arn, "one")
    val byArn = fanOut.describe(ConsumerRef.ByArn(made.arn))
    assert(byArn.status == ConsumerStatus.Active && byArn.arn == made.arn)
    assert(byArn.created.getEpochSecond == made.arn.createdSecond)
    assert(fanOut.describe(ConsumerRef.ByName(arn, "one")) == byArn)
    refused[KinesisException.NotFound](fanOut.describe(ConsumerRef.ByName(arn, "two")))
  }

  contract(
    "DeregisterStreamConsumer",
    "a deregistered consumer is gone, and its name may be used again"
  ) {
    val arn = client.describeStream(newStream(1)).arn
    val made = fanOut.register(arn, "leaver")
    fanOut.register(arn, "stayer")
    fanOut.deregister(ConsumerRef.ByName(arn, "leaver"))
    assert(fanOut.list(arn, None, 100).consumers.map(_.arn.name) == Seq("stayer"))
    refused[KinesisException.NotFound](fanOut.describe(ConsumerRef.ByArn(made.arn)))
    refused[KinesisException.NotFound](fanOut.deregister(ConsumerRef.ByName(arn, "leaver")))
    fanOut.register(arn, "leaver")
    fanOut.deregister(ConsumerRef.ByName(arn, "leaver"))
  }

  contractIf(Capability.DeregistersFromStream)(
    "DeregisterStreamConsumer",
    "a consumer with the same name in another stream stays"
  ) {
    val made = Seq.fill(2)(fanOut.register(client.describeStream(newStream(1)).arn, "same").arn)
    fanOut.deregister(ConsumerRef.ByArn(made(1)))
    refused[KinesisException.NotFound](fanOut.describe(ConsumerRef.ByArn(made(1))))
    assert(fanOut.describe(ConsumerRef.ByArn(made(0))).status == ConsumerStatus.Active)
  }

  contract("RegisterStreamConsumer", "a consumer name is unique in a stream") {
    val stream = newStream(1)
    register(stream)
    refused[KinesisException.InUse](register(stream))
    register(newStream(1))
  }

  contract("RegisterStreamConsumer", "a stream has at most 20 consumers") {
    val arn = client.describeStream(newStream(1)).arn
    (1 to 20).foreach(i => fanOut.register(arn, s"consumer-$i"))
    refused[KinesisException.LimitExceeded](fanOut.register(arn, "one-more"))
    fanOut.deregister(ConsumerRef.ByName(arn, "consumer-7"))
    fanOut.register(arn, "one-more")
  }

  contractIf(Capability.PagesConsumers)(
    "ListStreamConsumers",
    "consumers are listed page by page, each one once"
  ) {
    val arn = client.describeStream(newStream(1)).arn
    val names = (1 to 5).map(i => s"consumer-$i")
    names.foreach(fanOut.register(arn, _))
    @tailrec def more(found: Seq[String], token: Option[String]): Seq[String] = {
      val page = fanOut.list(arn, token, 2)
      assert(page.consumers.size <= 2)
      val all = found ++ page.consumers.map(_.arn.name)
      if (page.nextToken.isEmpty) all else more(all, page.nextToken)
    }
    assert(more(Nil, None).sorted == names)
  }

  contract(
    "DeleteStream",
    "a stream with consumers is deleted with them only if the caller says so"
  ) {
    val stream = newStream(1)
    val consumer = register(stream)
    refused[KinesisException.InUse](admin.deleteStream(stream.name))
    fanOut.deleteStream(consumer.stream)
    refused[KinesisException.NotFound](fanOut.describe(ConsumerRef.ByArn(consumer)))
    refused[KinesisException.NotFound](register(StreamRef.ByArn(consumer.stream)))
  }
}
