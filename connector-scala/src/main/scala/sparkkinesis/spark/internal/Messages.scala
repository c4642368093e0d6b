package org.apache.spark.sparkkinesis

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
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

  /** Uses the class loader of this jar. */
  def decode[A](bytes: Array[Byte]): A = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(desc: ObjectStreamClass): Class[_] =
        Class.forName(desc.getName, false, Messages.getClass.getClassLoader)
    }
    in.readObject().asInstanceOf[A]
  }
}
