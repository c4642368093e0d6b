package sparkkinesis.simulator

/**
 * The faults that tests inject: by chance with a seed, or by a script.
 *
 * [[ScriptedFaults]] is safe for use by several threads.
 */
package object fault
