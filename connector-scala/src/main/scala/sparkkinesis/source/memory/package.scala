package sparkkinesis.source

/**
 * The memory of one executor, which the fetch services of all queries share. Runs on the executors.
 * Has no threads.
 */
package object memory
