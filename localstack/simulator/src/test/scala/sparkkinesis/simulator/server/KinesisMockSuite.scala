package sparkkinesis.simulator.server

import java.net.URI

import sparkkinesis.simulator.contract.{Capabilities, Capability, HttpContract, QuotaContract}
import sparkkinesis.{SlowSuite, TestScope}

/** kinesis-local, which others wrote, keeps the contract too: so it is not our invention. */
final class KinesisMockSuite extends HttpContract with QuotaContract with SlowSuite {
  private lazy val mock = KinesisMock.start()

  override protected def endpoint: URI = mock.endpoint

  override protected def stopServer(): Unit = mock.close()

  override protected lazy val capabilities: Capabilities = KinesisMockSuite.Known

  /**
   * CI leaves out the rules that this server lacks, because its version is fixed and each of them
   * takes seconds to fail. `make test-all` tries them.
   */
  override protected def triesLacks: Boolean = !TestScope.isCi
}

object KinesisMockSuite {

  /** The known differences from AWS, which LocalStack has too. */
  val Known: Capabilities = {
    import Capability._
    Capabilities(lacks =
      Set(
        SmallShardPages,
        LimitsPutRecords,
        CountsPartitionKeys,
        ScalesEvenly,
        StartsEvenly,
        PagesStreams,
        RefusesEmptySplits,
        Quotas,
        RefusesForeignIterators,
        PagesConsumers,
        DeregistersFromStream,
        SizesEvents,
        EndsSubscriptions,
        RefusesEarlySubscriptions,
        ChecksShardOfSubscription,
        KeepsOnDemandShards,
        DistributesRecords
      )
    )
  }
}
