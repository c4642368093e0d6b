package sparkkinesis.client

/**
 * [[KinesisClient]] over the AWS SDK: clients, conversions between the types, and exceptions. Only
 * this folder and those inside it use the SDK. Runs on driver and executors, in the threads of its
 * callers.
 */
package object aws
