package sparkkinesis.bench

/** What the connector is compared with: plain loops over the AWS SDK. */
package object raw
