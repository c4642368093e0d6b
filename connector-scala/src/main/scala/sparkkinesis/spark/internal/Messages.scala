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
   * The bytes of the sender's version, which a receiver of any version can read, and then those of
   * the message.
   */
  def encode(message: Serializable, version: String): Array[Byte] = {
    val bytes = new ByteArrayOutputStream()
    new DataOutputStream(bytes).writeUTF(version)
    bytes.write(encode(message))
    bytes.toByteArray
  }

  /**
   * @throws OtherVersion if the sender has another version, or other classes of the same version
   */
  def decode[A](bytes: Array[Byte], version: String): A = {
    val in = new ByteArrayInputStream(bytes)
    val sender =
      try new DataInputStream(in).readUTF()
      catch { case _: IOException => "unknown" }
    if (sender != version) throw new OtherVersion(sender, null)
    try decode[A](in.readAllBytes())
    catch {
      case e @ (_: IOException | _: ClassNotFoundException | _: LinkageError) =>
        throw new OtherVersion(sender, e)
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

/** A message of another version of the jar. */
final class OtherVersion(val version: String, cause: Throwable)
    extends RuntimeException(s"The sender has version $version of the connector.", cause)
