package sparkkinesis

import java.io.File
import java.net.URLClassLoader

/** A second copy of the connector's classes, like that of an isolated session of Spark Connect. */
object OtherClassLoader {

  /** Passes the result of a method without arguments of an object. */
  def call(name: String, method: String)(use: AnyRef => Unit): Unit = {
    val classPath =
      sys.props("java.class.path").split(File.pathSeparator).map(new File(_).toURI.toURL)
    val loader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader)
    try {
      val module = loader.loadClass(s"$name$$")
      use(module.getMethod(method).invoke(module.getField("MODULE$").get(null)))
    } finally loader.close()
  }
}
