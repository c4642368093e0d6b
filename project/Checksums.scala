import java.security.MessageDigest

import sbt.Keys._
import sbt._

/**
 * The checksums of the libraries in the connector's jar. `project/bundled.sha256` has them as they
 * were when somebody chose the versions. A library that has changed since then stops the build.
 */
object Checksums {
  private val listed = file("project/bundled.sha256")

  def sha256(file: File): String =
    Hash.toHex(MessageDigest.getInstance("SHA-256").digest(IO.readBytes(file)))

  /**
   * The libraries, if they are the listed ones. With `SPARK_KINESIS_LOCK=1`, it writes the list.
   */
  def checked(libraries: Classpath): Classpath = {
    val lines = libraries.map(it => s"${sha256(it.data)}  ${name(it)}").sortBy(_.drop(66))
    if (sys.env.get("SPARK_KINESIS_LOCK").contains("1")) IO.writeLines(listed, lines)
    val others = lines.diff(IO.readLines(listed))
    if (others.nonEmpty)
      throw new MessageOnlyException(
        s"$listed has no such libraries:\n${others.mkString("\n")}\n" +
          "If you changed a version, run `make lock` and read what changed. Otherwise, somebody " +
          "replaced a library: do not use it."
      )
    libraries
  }

  private def name(library: Attributed[File]) = {
    val module = library.get(moduleID.key).get
    s"${module.organization}:${module.name}:${module.revision}"
  }
}
