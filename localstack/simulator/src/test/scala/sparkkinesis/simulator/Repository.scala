package sparkkinesis.simulator

import java.nio.file.{Files, Path, Paths}

/** Files of this repository; tests run in the directory of their project, below its root. */
object Repository {
  def file(path: String): Path = {
    val here = Paths.get("").toAbsolutePath
    Iterator
      .iterate(Option(here))(_.flatMap(p => Option(p.getParent)))
      .takeWhile(_.nonEmpty)
      .flatten
      .map(_.resolve(path))
      .find(Files.exists(_))
      .getOrElse(throw new IllegalStateException(s"No $path in or above $here."))
  }
}
