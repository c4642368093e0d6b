package sparkkinesis

/**
 * The local Kinesis as a program: [[Main]] reads the command line and starts [[KinesisServer]], an
 * HTTP server on the loopback interface.
 *
 * A server has Netty's event loop and worker threads; [[KinesisServer]] stops them. This folder may
 * use all others.
 */
package object simulator
