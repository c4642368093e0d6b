package sparkkinesis.bench

/** The scenarios. Each measures the connector and a raw SDK loop on the same server in one run. */
package object scenario
