import sbt.Keys._
import sbt._
import sbtassembly.AssemblyPlugin.autoImport._
import sbtassembly.MergeStrategy

/** What the bundle renames so that no other copy on a Spark class path can meet it. */
object Shading {
  private val prefix = "sparkkinesis.shaded"

  private val relocated = Seq(
    "software.amazon",
    "io.netty",
    "org.reactivestreams",
    "com.fasterxml.jackson",
    "org.apache.hc",
    "org.apache.commons.codec"
  )

  val relocate: Seq[Setting[_]] = Seq(
    assembly / assemblyShadeRules := relocated.map(p =>
      ShadeRule.rename(s"$p.**" -> s"$prefix.$p.@1").inAll
    ),
    assembly / assemblyOption ~= (_.withIncludeScala(false)),
    assembly / test := {}
  )

  val bundle: Seq[Setting[_]] = relocate ++ Seq(
    assembly / assemblyMergeStrategy := {
      // The source registers itself here, and so do the SDK's HTTP clients: never discard.
      case PathList(
            "META-INF",
            "services",
            "reactor.blockhound.integration.BlockHoundIntegration"
          ) =>
        MergeStrategy.discard // for a debugger we do not carry
      case PathList("META-INF", "services", _*) => MergeStrategy.filterDistinctLines
      case PathList("META-INF", "versions", _*) => MergeStrategy.discard
      // Of the libraries' own jars: an index would hide classes, native images are not ours.
      case PathList("META-INF", "INDEX.LIST") => MergeStrategy.discard
      case PathList("META-INF", "native-image", _*) => MergeStrategy.discard
      // Spark's own: a second copy beside it would bind no logger.
      case PathList("org", "slf4j", _*) => MergeStrategy.discard
      case PathList("META-INF", "MANIFEST.MF") => MergeStrategy.discard
      case PathList("META-INF", "maven", _*) => MergeStrategy.discard
      case PathList("META-INF", name) if name.matches(".*\\.(SF|DSA|RSA)") => MergeStrategy.discard
      case PathList(
            "META-INF",
            name @ ("LICENSE" | "NOTICE" | "LICENSE.txt" | "NOTICE.txt" | "DEPENDENCIES")
          ) =>
        MergeStrategy.concat
      case PathList("META-INF", _*) => MergeStrategy.first
      case "module-info.class" => MergeStrategy.discard
      case _ => MergeStrategy.deduplicate
    }
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
