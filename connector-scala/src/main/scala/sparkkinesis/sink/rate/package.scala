package sparkkinesis.sink

/**
 * How fast a stream and each of its shards may be written to. All tasks of one executor share these
 * objects, so every class that leaves this folder is thread-safe; no class has threads of its own.
 */
package object rate
