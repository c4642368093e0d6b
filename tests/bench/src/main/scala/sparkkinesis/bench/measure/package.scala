package sparkkinesis.bench

/** Measurements: ages of records, gaps, heap, CPU, rows that have become visible. */
package object measure
