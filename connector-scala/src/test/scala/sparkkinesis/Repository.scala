package sparkkinesis

import java.nio.file.{Files, Path, Paths}

/** The root folder of this project. */
object Repository {
  val root: Path = Iterator
    .iterate(Paths.get("").toAbsolutePath)(_.getParent)
    .takeWhile(_ != null)
    .find(directory => Files.exists(directory.resolve("build.sbt")))
    .getOrElse(throw new IllegalStateException("No build.sbt above the working directory."))
}
