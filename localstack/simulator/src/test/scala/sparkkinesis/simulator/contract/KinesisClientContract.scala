package sparkkinesis.simulator.contract

/**
 * The behaviour that the connector needs from any Kinesis: ours in memory and over HTTP, another
 * server, AWS. `Capability` has the known differences of a service, whose rules must fail.
 */
abstract class KinesisClientContract
    extends ContractFixture
    with StreamContract
    with PutContract
    with ReadContract
    with ReshardContract
    with FanOutContract
    with ConfigurationContract
    with TagContract
    with ModeContract
