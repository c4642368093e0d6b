package sparkkinesis.simulator.server

import java.util.UUID

import org.scalatest.BeforeAndAfterAll

import sparkkinesis.client.KinesisClient
import sparkkinesis.model.StreamRef
import sparkkinesis.simulator.contract.{KinesisClientContract, QuotaContract}
import sparkkinesis.simulator.sdk.FanOutCalls
import sparkkinesis.simulator.service.KinesisAdmin

/**
 * Runs the contract on AWS, only if the environment variable `KINESIS_CONTRACT_AWS` names a region,
 * because it costs money. The suite finds credentials as the SDK does, creates streams under names
 * of its own, deletes them at the end, and then prints what they cost.
 */
final class AwsSuite extends KinesisClientContract with QuotaContract with BeforeAndAfterAll {
  private lazy val region = sys.env.get("KINESIS_CONTRACT_AWS").filter(_.nonEmpty)

  private lazy val aws = new AwsService(region.getOrElse(throw new IllegalStateException("asked")))

  private lazy val run = UUID.randomUUID().toString.take(8)

  override protected lazy val notRun: Option[String] =
    if (region.nonEmpty) None else Some("AWS is asked only where KINESIS_CONTRACT_AWS is a region")

  override protected def namePrefix: String = s"spark-kinesis-contract-$run"

  override protected def client: KinesisClient = aws.client

  override protected def admin: KinesisAdmin = aws.admin

  override protected def fanOut: FanOutCalls = aws.fanOut

  private var shardsCreated = 0

  override protected def newStream(shards: Int): StreamRef.ByName = {
    shardsCreated += shards
    super.newStream(shards)
  }

  notRun.foreach(why => ignore(s"not run: $why")(()))

  override protected def afterAll(): Unit =
    try aws.admin.listStreams().filter(_.name.startsWith(namePrefix)).foreach(admin.deleteStream)
    finally {
      aws.close()
      val dollars = shardsCreated * AwsSuite.DollarsPerShardHour
      println(
        f"AwsSuite created $shardsCreated shards. For the hour in which each began, AWS charges " +
          f"about $dollars%.2f USD; children, consumers and on-demand streams cost as much again."
      )
    }
}

private object AwsSuite {

  /** Price of a provisioned shard in us-east-1. AWS charges started hours as whole ones. */
  private val DollarsPerShardHour = 0.015
}
