package sparkkinesis.client

/**
 * Parses the options that source and sink share, and accepts or refuses the names of other
 * connectors ([[options.ForeignOptions]]). Runs on the driver, in the threads of its callers.
 */
package object options
