import com.google.common.util.concurrent.ListenableFuture;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.kinesis.producer.KinesisProducer;
import software.amazon.kinesis.producer.KinesisProducerConfiguration;
import software.amazon.kinesis.producer.UserRecordResult;

/**
 * Writes records with the Kinesis Producer Library itself, for `kpl.json`. Run by `make_kpl.py`.
 *
 * <p>Arguments: a port of this machine, and for each record a partition key, an explicit hash key
 * or nothing, and a text.
 */
public final class KplRecords {
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    KinesisProducer producer =
        new KinesisProducer(
            new KinesisProducerConfiguration()
                .setRegion("us-east-1")
                .setKinesisEndpoint("127.0.0.1")
                .setKinesisPort(port)
                .setStsEndpoint("127.0.0.1")
                .setStsPort(port)
                .setVerifyCertificate(false)
                .setMetricsLevel("none")
                .setRecordMaxBufferedTime(1000)
                .setCredentialsProvider(
                    StaticCredentialsProvider.create(
                        AwsBasicCredentials.create("local", "local"))));
    // The library aggregates nothing before it knows the shards.
    producer.addUserRecord("orders", "first", ByteBuffer.allocate(0)).get();
    List<ListenableFuture<UserRecordResult>> answers = new ArrayList<>();
    for (int i = 1; i < arguments.length; i += 3) {
      String hashKey = arguments[i + 1].isEmpty() ? null : arguments[i + 1];
      ByteBuffer data = ByteBuffer.wrap(arguments[i + 2].getBytes(StandardCharsets.UTF_8));
      answers.add(producer.addUserRecord("orders", arguments[i], hashKey, data));
    }
    producer.flush();
    for (ListenableFuture<UserRecordResult> answer : answers) {
      answer.get();
    }
    producer.destroy();
  }
}
