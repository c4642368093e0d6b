package sparkkinesis.simulator

/**
 * What the connector relies on, of any Kinesis: ours in memory and over HTTP, another's, AWS.
 *
 * The capabilities name where a service is known to be wrong; a switch off skips only its tests.
 */
abstract class KinesisClientContract
    extends ContractFixture
    with StreamContract
    with PutContract
    with ReadContract
    with ReshardContract
    with FanOutContract
    with ConfigurationContract
    with ModeContract
