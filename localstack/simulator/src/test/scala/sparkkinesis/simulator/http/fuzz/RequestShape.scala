package sparkkinesis.simulator.http.fuzz

import scala.jdk.CollectionConverters._

import software.amazon.awssdk.core.protocol.MarshallingType
import software.amazon.awssdk.core.traits.{ListTrait, MapTrait}
import software.amazon.awssdk.core.{SdkField, SdkPojo}

/** The type of a member of a request, from AWS's SDK. */
private[http] sealed trait Shape

private[http] object Shape {
  case object Text extends Shape
  case object Whole extends Shape
  case object Time extends Shape
  case object Blob extends Shape
  case object Flag extends Shape
  final case class Many(element: Shape) extends Shape
  final case class Named(value: Shape) extends Shape
  final case class Structure(members: Vector[(String, Shape)]) extends Shape

  /** Operations that AWS has and this SDK does not know yet. */
  private val Newer = Map(
    "UpdateStreamRecordDistributionStrategy" ->
      Structure(Vector("StreamARN" -> Text, "RecordDistributionStrategy" -> Text))
  )

  /** The type of an operation's request. Fails for an unknown operation. */
  def ofRequest(operation: String): Structure = Newer.getOrElse(operation, known(operation))

  private def known(operation: String): Structure = {
    val request =
      Class.forName(s"software.amazon.awssdk.services.kinesis.model.${operation}Request")
    structure(request.getMethod("builder").invoke(null))
  }

  private def structure(builder: Any): Structure = builder match {
    case pojo: SdkPojo =>
      Structure(pojo.sdkFields.asScala.map(field => field.locationName -> of(field)).toVector)
    case other => throw new IllegalArgumentException(s"No SDK object: $other")
  }

  private def of(field: SdkField[_]): Shape = field.marshallingType match {
    case MarshallingType.STRING => Text
    case MarshallingType.INTEGER | MarshallingType.LONG => Whole
    case MarshallingType.INSTANT => Time
    case MarshallingType.SDK_BYTES => Blob
    case MarshallingType.BOOLEAN => Flag
    case MarshallingType.LIST => Many(of(field.getTrait(classOf[ListTrait]).memberFieldInfo))
    case MarshallingType.MAP => Named(of(field.getTrait(classOf[MapTrait]).valueFieldInfo))
    case MarshallingType.SDK_POJO => structure(field.constructor.get)
    case other => throw new IllegalArgumentException(s"${field.memberName} is a $other.")
  }
}
