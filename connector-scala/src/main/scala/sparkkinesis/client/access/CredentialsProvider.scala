package sparkkinesis.client.access

/**
 * Gives the connector AWS credentials. The option `credentialsProvider` names a class that
 * implements this interface. The class needs a public constructor without parameters, or a public
 * static method `create` without parameters. With the option `credentialsProviderSecret`, it needs
 * one of the two with a parameter of type `String`.
 *
 * The driver and each executor create one object per connection. The connector keeps the
 * credentials of an object, and asks for new ones before they expire. If the object also implements
 * `AutoCloseable`, the connector closes it together with the connection.
 */
trait CredentialsProvider {

  /**
   * Returns credentials that are valid now. One thread at a time calls this method. A failure does
   * not stop the query while earlier credentials are valid.
   */
  def credentials(): AwsKeys
}
