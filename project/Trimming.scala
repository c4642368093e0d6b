import java.io.{ByteArrayInputStream, DataInputStream}
import java.util.jar.JarFile

import scala.collection.JavaConverters._
import scala.collection.mutable

import sbt.Keys._
import sbt._

/**
 * The parts of the libraries that the connector's jar needs.
 *
 * A class of a library stays if the name of the class is part of any constant of a class that
 * stays: a reference, the type of a field or of a parameter, or a string, as reflection needs it.
 * All classes of ours and all services stay. No other class can be loaded, unless code puts its
 * name together from parts.
 */
object Trimming {

  /**
   * Copies of the libraries with what is needed, in the same order.
   *
   * @param ours folders with our classes
   */
  def trimmed(ours: Seq[File], jars: Classpath, folder: File): Classpath = {
    val contents = jars.map(jar => entries(jar.data))
    val classes = ours.flatMap(it => (it ** "*.class").get())
    val needed = reached(classes.map(IO.readBytes(_)), contents.flatten)
    jars.zip(contents).map { case (jar, content) =>
      val files = content.filter { case (name, _) => stays(name) && !isUnreached(name, needed) }
      jar.map { original =>
        val copy = folder / original.getName
        IO.withTemporaryDirectory { scratch =>
          val written = files.map { case (name, bytes) =>
            IO.write(scratch / name, bytes)
            scratch / name -> name
          }
          IO.zip(written, copy, Some(0L))
        }
        copy
      }
    }
  }

  private def isUnreached(name: String, needed: Set[String]) =
    name.endsWith(".class") && !needed(name)

  /** Licenses and notices have a folder of their own: see [[Licenses]]. */
  private def stays(name: String): Boolean =
    if (name.startsWith("META-INF/services/")) !name.contains("blockhound") // for a debugger
    else !name.startsWith("META-INF/") && name != "module-info.class"

  /** The files in a jar. */
  def entries(jar: File): Seq[(String, Array[Byte])] = {
    val opened = new JarFile(jar)
    try
      opened.entries.asScala.toVector
        .filterNot(_.isDirectory)
        .map(it => it.getName -> IO.readBytes(opened.getInputStream(it)))
    finally opened.close()
  }

  private def reached(ours: Seq[Array[Byte]], files: Seq[(String, Array[Byte])]): Set[String] = {
    val library = files.toMap
    // Several jars may have a file for the same service.
    val services = files.filter { case (name, _) =>
      name.startsWith("META-INF/services/") && stays(name)
    }
    val found = mutable.Set.empty[String]
    val waiting = mutable.Queue.empty[String]
    def add(names: Iterator[String]): Unit =
      names.filter(library.contains).foreach(it => if (found.add(it)) waiting += it)
    ours.foreach(it => add(named(constants(it))))
    services.foreach { case (_, text) => add(named(Iterator(new String(text, "UTF-8")))) }
    while (waiting.nonEmpty) add(named(constants(library(waiting.dequeue()))))
    found.toSet
  }

  private val Name = "[\\w$-]+(?:[/.][\\w$-]+)+".r

  /** The class files that texts may name. In a descriptor, a name comes after types and an L. */
  private def named(texts: Iterator[String]): Iterator[String] = for {
    text <- texts
    name <- Name.findAllIn(text).map(_.replace('.', '/'))
    from <- 0 +: name.takeWhile(_ != '/').zipWithIndex.collect { case ('L', at) => at + 1 }
  } yield name.substring(from) + ".class"

  /** The texts in the constant pool of a class file, in the format of the JVM specification. */
  private def constants(classFile: Array[Byte]): Iterator[String] = {
    val in = new DataInputStream(new ByteArrayInputStream(classFile))
    in.skipBytes(8)
    val count = in.readUnsignedShort()
    val texts = Vector.newBuilder[String]
    var at = 1
    while (at < count) {
      in.readUnsignedByte() match {
        case 1 => texts += in.readUTF()
        case 5 | 6 => in.skipBytes(8); at += 1 // a long number counts as two constants
        case 7 | 8 | 16 | 19 | 20 => in.skipBytes(2)
        case 15 => in.skipBytes(3)
        case _ => in.skipBytes(4)
      }
      at += 1
    }
    texts.result().iterator
  }
}
