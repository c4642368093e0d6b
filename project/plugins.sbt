addSbtPlugin("com.eed3si9n" % "sbt-assembly" % "2.3.1") // the relocated bundle
addSbtPlugin("org.scalameta" % "sbt-scalafmt" % "2.5.6") // make fmt
// 0.14.3: the newest whose rules are published for the same Scala as the plugin asks for.
addSbtPlugin("ch.epfl.scala" % "sbt-scalafix" % "0.14.3") // make check
