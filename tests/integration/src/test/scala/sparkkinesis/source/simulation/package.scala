package sparkkinesis.source

import sparkkinesis.source.protocol.FetchStatus
import sparkkinesis.source.query.MicroBatchQuery

package object simulation {
  type MicroBatchDriver = SimulatedDriver[FetchStatus, MicroBatchQuery]
}
