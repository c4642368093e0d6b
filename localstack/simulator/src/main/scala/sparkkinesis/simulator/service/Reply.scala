package sparkkinesis.simulator.service

import sparkkinesis.simulator.fault.Fault
import sparkkinesis.simulator.state.Failure

/**
 * What the service answers, and what goes wrong on the way to the caller.
 *
 * @param fault which the face makes felt in its own manner
 */
private[simulator] final case class Reply[+A](
    answer: Either[Failure, A],
    fault: Option[Fault.OfConnection] = None
)
