package sparkkinesis.simulator

/**
 * The service itself: [[SimulatedService]] runs operations one at a time and asks faults, quotas
 * and the journal; [[SimulatedKinesis]] is the connector's port in memory.
 *
 * Safe for use by several threads; has none of its own.
 */
package object service
