package sparkkinesis.model.aggregate

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.{Label, Type}
import com.google.protobuf.DescriptorProtos.{
  DescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto
}
import com.google.protobuf.Descriptors.{Descriptor, FileDescriptor}
import com.google.protobuf.{ByteString, DynamicMessage, InvalidProtocolBufferException}

import sparkkinesis.KplAggregates.SubRecord

/** The message of an aggregate as Google's own reader of protobuf reads it. */
object ProtobufOracle {

  /**
   * Reads the records. Returns none if the message is invalid, or if a record has no partition key.
   */
  def read(bytes: Array[Byte]): Vector[SubRecord] =
    try {
      val message = DynamicMessage.parseFrom(aggregated, bytes)
      def table(field: Int) = repeated[ByteString](message, field).map(text)
      val (keys, hashKeys) = (table(1), table(2))
      repeated[DynamicMessage](message, 3).map { record =>
        def index(field: Int): Long =
          record.getField(record.getDescriptorForType.findFieldByNumber(field)).asInstanceOf[Long]
        val hashKey = record.getDescriptorForType.findFieldByNumber(2)
        val data = record.getField(record.getDescriptorForType.findFieldByNumber(3))
        SubRecord(
          of(keys, index(1)),
          data.asInstanceOf[ByteString].toByteArray.toVector,
          Option.when(record.hasField(hashKey))(of(hashKeys, index(2)))
        )
      }
    } catch {
      case _: InvalidProtocolBufferException | _: CharacterCodingException |
          _: IndexOutOfBoundsException =>
        Vector.empty
    }

  private def of(table: Vector[String], index: Long): String =
    if (index >= 0 && index < table.size) table(index.toInt)
    else throw new IndexOutOfBoundsException

  private def text(bytes: ByteString): String =
    UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray)).toString

  private def repeated[A](message: DynamicMessage, field: Int): Vector[A] = message
    .getField(aggregated.findFieldByNumber(field))
    .asInstanceOf[java.util.List[A]]
    .asScala
    .toVector

  /** Keys are bytes here: that they are text, we check as strictly as protobuf 3 does. */
  private lazy val aggregated: Descriptor = {
    val record = DescriptorProto
      .newBuilder()
      .setName("Record")
      .addField(field(1, Label.LABEL_REQUIRED, Type.TYPE_UINT64))
      .addField(field(2, Label.LABEL_OPTIONAL, Type.TYPE_UINT64))
      .addField(field(3, Label.LABEL_REQUIRED, Type.TYPE_BYTES))
    val all = DescriptorProto
      .newBuilder()
      .setName("AggregateReader")
      .addField(field(1, Label.LABEL_REPEATED, Type.TYPE_BYTES))
      .addField(field(2, Label.LABEL_REPEATED, Type.TYPE_BYTES))
      .addField(field(3, Label.LABEL_REPEATED, Type.TYPE_MESSAGE).setTypeName("Record"))
    val file = FileDescriptorProto.newBuilder().addMessageType(record).addMessageType(all).build()
    FileDescriptor.buildFrom(file, Array.empty).findMessageTypeByName("AggregateReader")
  }

  private def field(number: Int, label: Label, kind: Type) = FieldDescriptorProto
    .newBuilder()
    .setName(s"field$number")
    .setNumber(number)
    .setLabel(label)
    .setType(kind)
}
