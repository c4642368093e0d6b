package sparkkinesis.source

/**
 * The source's options, parsed once when the `DataFrame` is defined.
 *
 * Parsed on the driver; the values travel to the executors. Has no threads and no I/O.
 */
package object options
