import com.amazonaws.services.schemaregistry.common.configs.GlueSchemaRegistryConfiguration;
import com.amazonaws.services.schemaregistry.serializers.GlueSchemaRegistrySerializationFacade;
import com.amazonaws.services.schemaregistry.serializers.json.JsonDataWithSchema;
import com.amazonaws.services.schemaregistry.utils.AWSSchemaRegistryConstants;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecordBuilder;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.services.glue.model.DataFormat;

/**
 * Prints records as AWS's own serializer of the Glue Schema Registry writes them, for the field
 * `records` of `glue.json`: per line a format, a compression, the version of the schema, and the
 * bytes.
 *
 * <p>Run it with `java -cp 'lib/*' GlueRecords.java`. The folder `lib` has
 * software.amazon.glue:schema-registry-serde 1.1.24 and its dependencies in the versions of its
 * POM. The program makes no call to AWS, because it names the versions itself.
 */
public final class GlueRecords {
  private static final String ORDER =
      "{\"type\":\"record\",\"name\":\"Order\",\"fields\":["
          + "{\"name\":\"id\",\"type\":\"long\"},{\"name\":\"customer\",\"type\":\"string\"}%s]}";
  private static final String TOTAL =
      ",{\"name\":\"total\",\"type\":\"double\",\"default\":0.0}";
  private static final String JSON_SCHEMA =
      "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\","
          + "\"properties\":{\"id\":{\"type\":\"integer\"},\"customer\":{\"type\":\"string\"}}}";

  public static void main(String[] arguments) throws Exception {
    for (String compression : new String[] {"NONE", "ZLIB"}) {
      Map<String, Object> settings = new HashMap<>();
      settings.put("region", "us-east-1");
      settings.put(AWSSchemaRegistryConstants.COMPRESSION_TYPE, compression);
      GlueSchemaRegistrySerializationFacade serializer =
          GlueSchemaRegistrySerializationFacade.builder()
              .credentialProvider(AnonymousCredentialsProvider.create())
              .glueSchemaRegistryConfiguration(new GlueSchemaRegistryConfiguration(settings))
              .build();
      Schema first = new Schema.Parser().parse(String.format(ORDER, ""));
      Schema second = new Schema.Parser().parse(String.format(ORDER, TOTAL));
      print(serializer, DataFormat.AVRO, compression, 1, order(first).build());
      print(serializer, DataFormat.AVRO, compression, 2, order(second).set("total", 2.5).build());
      String json = "{\"id\":17,\"customer\":\"Zürich\"}";
      JsonDataWithSchema data = JsonDataWithSchema.builder(JSON_SCHEMA, json).build();
      print(serializer, DataFormat.JSON, compression, 3, data);
      print(serializer, DataFormat.PROTOBUF, compression, 4, message());
    }
  }

  private static GenericRecordBuilder order(Schema schema) {
    return new GenericRecordBuilder(schema).set("id", 17L).set("customer", "Zürich");
  }

  private static DynamicMessage message() throws Exception {
    DescriptorProto order =
        DescriptorProto.newBuilder()
            .setName("Order")
            .addField(field("id", 1, Type.TYPE_INT64))
            .addField(field("customer", 2, Type.TYPE_STRING))
            .build();
    FileDescriptorProto file =
        FileDescriptorProto.newBuilder()
            .setName("Order.proto")
            .setSyntax("proto3")
            .addMessageType(order)
            .build();
    Descriptor found =
        FileDescriptor.buildFrom(file, new FileDescriptor[0]).findMessageTypeByName("Order");
    return DynamicMessage.newBuilder(found)
        .setField(found.findFieldByName("id"), 17L)
        .setField(found.findFieldByName("customer"), "Zürich")
        .build();
  }

  private static FieldDescriptorProto field(String name, int number, Type type) {
    return FieldDescriptorProto.newBuilder().setName(name).setNumber(number).setType(type).build();
  }

  private static void print(
      GlueSchemaRegistrySerializationFacade serializer,
      DataFormat format,
      String compression,
      int version,
      Object value) {
    UUID id = new UUID(0xb7b4a7f09c964e4aL, 0xa687fb5de9ef0000L + version);
    String bytes = Base64.getEncoder().encodeToString(serializer.serialize(format, value, id));
    System.out.printf(
        "{\"format\":\"%s\",\"compression\":\"%s\",\"version\":\"%s\",\"data\":\"%s\"}%n",
        format, compression, id, bytes);
  }
}
