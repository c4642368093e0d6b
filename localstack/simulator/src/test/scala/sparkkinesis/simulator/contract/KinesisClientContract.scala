package sparkkinesis.simulator.contract

/**
 * What the connector relies on, of any Kinesis: ours in memory and over HTTP, another's, AWS.
 *
 * `Capability` names where a service is known to be wrong: there its rules must fail.
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
