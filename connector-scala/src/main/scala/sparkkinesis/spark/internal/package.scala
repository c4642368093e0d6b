package org.apache.spark

/**
 * The only code in Spark's own packages, for classes that Spark keeps private: RPC, executors,
 * accumulators, and parsed and analyzed queries. Runs on driver and executors. Threads call in;
 * Spark's RPC threads call out.
 */
package object sparkkinesis
