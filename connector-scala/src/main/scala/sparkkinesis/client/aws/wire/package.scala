package sparkkinesis.client.aws

/**
 * Encodes `PutRecords` requests and decodes the responses of `PutRecords` and `GetRecords` in CBOR,
 * and the events of subscriptions in JSON, instead of the SDK, whose objects per record cost most
 * of the CPU time. Runs on executors, in the threads of its callers.
 */
package object wire
