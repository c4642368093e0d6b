package sparkkinesis

/** The benchmark program, `make bench`: [[Main]] runs the scenarios and writes their report. */
package object bench
