import sbt.Keys._
import sbt._

/** The licenses and notices of everything in the connector's jar, in `META-INF/licenses`. */
object Licenses {
  private val Text = "META-INF/(?:.*/)?([^/]*(?:LICENSE|NOTICE)[^/]*)".r

  /**
   * Copies what the libraries carry, each text once and the Apache License once. The bundle's own
   * resources have the texts of libraries that carry none.
   *
   * @param root the repository, with our license and our notice
   */
  def write(libraries: Classpath, root: File, folder: File): Seq[File] = {
    val license = root / "LICENSE"
    val ours = Seq(license, root / "python" / "NOTICE").map { text =>
      val file = folder / "META-INF" / text.getName
      IO.copyFile(text, file)
      file
    }
    val carried = for {
      library <- libraries
      (name, text) <- texts(library.data)
    } yield (library.get(moduleID.key).get, name, text)
    val distinct = carried
      .groupBy { case (_, _, text) => words(text) }
      .filterKeys(_ != words(IO.read(license)))
      .values
      .map(_.head)
    ours ++ distinct.map { case (module, name, text) =>
      val file = folder / "META-INF" / "licenses" / module.name / name
      IO.write(file, text)
      file
    }
  }

  private def words(text: String) = text.split("\\W+").filter(_.nonEmpty).toSeq

  private def texts(jar: File): Seq[(String, String)] = Trimming.entries(jar).collect {
    case (Text(name), bytes) => name -> new String(bytes, "UTF-8")
  }
}
