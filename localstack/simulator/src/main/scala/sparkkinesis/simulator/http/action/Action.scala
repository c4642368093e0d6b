package sparkkinesis.simulator.http.action

import sparkkinesis.simulator.http.response.Responses
import sparkkinesis.simulator.http.wire.Fields
import sparkkinesis.simulator.operation.Operation

/**
 * One operation of the service on the wire.
 *
 * @param read the operation from a request; throws `BadRequest`
 * @param write the response from its result
 */
private[http] final case class Action[A](
    read: Fields => Operation[A],
    write: Responses => A => Unit
)
