package sparkkinesis.bench

/** The servers under test, and the Spark session. */
package object server
