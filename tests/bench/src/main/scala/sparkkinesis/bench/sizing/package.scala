package sparkkinesis.bench

/** How large a run is: numbers of records, shards and repetitions, and the order of turns. */
package object sizing
