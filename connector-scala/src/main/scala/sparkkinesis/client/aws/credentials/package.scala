package sparkkinesis.client.aws

/**
 * The credentials of a client: keys, a profile, a class of the user or the SDK's default chain, and
 * an assumed role, whose credentials it renews. Runs on driver and executors, in the thread of the
 * call that needs the credentials.
 */
package object credentials
