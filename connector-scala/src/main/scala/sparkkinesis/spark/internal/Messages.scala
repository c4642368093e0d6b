package org.apache.spark.sparkkinesis

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  DataInputStream,
  DataOutputStream,
  IOException,
  ObjectInputFilter,
  ObjectInputStream,
  ObjectOutputStream,
  ObjectStreamClass,
  Serializable
}

/**
 * Objects as bytes. Driver and executors exchange only bytes: Spark deserializes a message with a
 * class loader that lacks the jars a session added, and a class it cannot find ends an executor.
 */
object Messages {
  def encode(message: Serializable): Array[Byte] = {
    val bytes = new ByteArrayOutputStream()
    val out = new ObjectOutputStream(bytes)
    out.writeObject(message)
    out.close()
    bytes.toByteArray
  }

  /**
   * The sender's version and name, which a receiver of any version can read, and then the message.
   * Without these two texts a receiver cannot tell another version from a stranger, so they never
   * change.
   *
   * @param sender ID of an executor in Spark; empty if the receiver need not know it
   */
  def encode(message: Serializable, version: String, sender: String = ""): Array[Byte] = {
    val bytes = new ByteArrayOutputStream()
    val header = new DataOutputStream(bytes)
    header.writeUTF(version)
    header.writeUTF(sender)
    bytes.write(encode(message))
    bytes.toByteArray
  }

  /**
   * @throws OtherVersion if the sender has another version, or other classes of the same version
   */
  def decode[A](bytes: Array[Byte], version: String): A = {
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    def name(): String =
      try in.readUTF()
      catch { case _: IOException => "unknown" }
    val (found, sender) = (name(), name())
    if (found != version) throw new OtherVersion(found, sender, null)
    try decode[A](in.readAllBytes())
    catch {
      case e @ (_: IOException | _: ClassNotFoundException | _: LinkageError) =>
        throw new OtherVersion(found, sender, e)
    }
  }

  /**
   * Uses the class loader of this jar.
   *
   * @throws InvalidClassException if the bytes contain an object of a class that no message has
   */
  def decode[A](bytes: Array[Byte]): A = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(desc: ObjectStreamClass): Class[_] =
        Class.forName(desc.getName, false, Messages.getClass.getClassLoader)
    }
    in.setObjectInputFilter(ClassesOfMessages)
    in.readObject().asInstanceOf[A]
  }

  /**
   * Who reaches the port of the driver can send bytes, and a class of another library may run code.
   */
  private val ClassesOfMessages = ObjectInputFilter.Config.createFilter(
    "sparkkinesis.**;org.apache.spark.sparkkinesis.**;scala.**;java.lang.*;java.math.*;" +
      "java.time.*;java.util.*;java.util.concurrent.*;java.net.URI;!*"
  )
}

/**
 * A message of another version of the jar, or no message of the connector.
 *
 * @param sender ID of the executor that sent it, as it says
 */
final class OtherVersion(val version: String, val sender: String, cause: Throwable)
    extends RuntimeException(s"The sender has version $version of the connector.", cause)
