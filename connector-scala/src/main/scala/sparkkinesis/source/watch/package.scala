package sparkkinesis.source

/**
 * Whether a query will read each shard of a stream, by a listing, and when records expire. Pure,
 * for the driver.
 */
package object watch
