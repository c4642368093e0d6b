package sparkkinesis.client

/**
 * Declares and parses the options that source and sink share, and gives hints about the options of
 * other connectors. An [[options.OptionTable]] declares each option once. Runs on the driver, in
 * the threads of its callers.
 */
package object options
