import sbt.Keys._
import sbt._
import sbtassembly.AssemblyPlugin.autoImport._

/** What the bundle renames so that no other copy on a Spark class path can meet it. */
object Shading {
  private val prefix = "sparkkinesis.shaded"

  private val relocated = Seq(
    "software.amazon",
    "io.netty",
    "org.reactivestreams",
    "com.fasterxml.jackson",
    "org.apache.hc"
  )

  /** Where the bundle has a class file. */
  def placed(name: String): String =
    if (relocated.exists(it => name.startsWith(it.replace('.', '/') + "/")))
      s"${prefix.replace('.', '/')}/$name"
    else name

  val relocate: Seq[Setting[_]] = Seq(
    assembly / assemblyShadeRules := relocated.map(p =>
      ShadeRule.rename(s"$p.**" -> s"$prefix.$p.@1").inAll
    ),
    assembly / assemblyOption ~= (_.withIncludeScala(false)),
    assembly / test := {}
  )

  /** Spark needs these packages opened on Java 17. */
  val javaOptions: Seq[String] = "-Djava.net.preferIPv4Stack=true" +: Seq(
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar"
  ).map(p => s"--add-opens=java.base/$p=ALL-UNNAMED")
}
