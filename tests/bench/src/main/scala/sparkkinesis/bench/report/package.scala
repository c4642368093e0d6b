package sparkkinesis.bench

/** Results with their goals, and the Markdown page that shows them. */
package object report
