package sparkkinesis.source.protocol

/** The version of the messages is that of the jar: driver and executors must run the same one. */
private[sparkkinesis] object ProtocolVersion {
  val Current: String =
    Option(getClass.getPackage).flatMap(it => Option(it.getImplementationVersion)).getOrElse("dev")
}
