package sparkkinesis.client.aws

import sparkkinesis.client._

/** The Kinesis clients of this JVM: one per configuration, shared by all queries and tasks. */
object ClientPool {
  val shared: Pool[ClientConfig, KinesisClient] =
    new Pool[ClientConfig, KinesisClient](AwsClientFactory.create(_), SystemClock, Timer.later)
}
