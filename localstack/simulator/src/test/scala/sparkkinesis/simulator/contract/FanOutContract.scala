package sparkkinesis.simulator.contract

/** Enhanced fan-out: consumers and their subscriptions. */
trait FanOutContract
    extends ConsumerContract
    with SubscriptionContract
    with SubscriptionEndContract { this: ContractFixture => }
