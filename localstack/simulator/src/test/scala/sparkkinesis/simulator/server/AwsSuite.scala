package sparkkinesis.simulator.server

import java.util.UUID

import org.scalatest.BeforeAndAfterAll

import sparkkinesis.client.KinesisClient
import sparkkinesis.simulator.contract.{KinesisClientContract, QuotaContract}
import sparkkinesis.simulator.sdk.FanOutCalls
import sparkkinesis.simulator.service.KinesisAdmin

/**
 * AWS itself keeps the contract: run only where the environment's `KINESIS_CONTRACT_AWS` names a
 * region, since it costs money. It finds credentials as the SDK does, makes streams under names of
 * its own, and deletes them at the end.
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

  notRun.foreach(why => ignore(s"not run: $why")(()))

  override protected def afterAll(): Unit =
    try aws.admin.listStreams().filter(_.name.startsWith(namePrefix)).foreach(admin.deleteStream)
    finally aws.close()
}
