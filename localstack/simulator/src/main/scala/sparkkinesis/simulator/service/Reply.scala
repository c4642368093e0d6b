package sparkkinesis.simulator.service

import sparkkinesis.simulator.fault.Fault
import sparkkinesis.simulator.state.Failure

/**
 * A result of the service, and a fault on its way to the caller.
 *
 * @param fault HTTP and memory apply it each in their own way
 */
private[simulator] final case class Reply[+A](
    answer: Either[Failure, A],
    fault: Option[Fault.OfConnection] = None
)
