package sparkkinesis.kcl;

import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.v2.IRecordProcessor;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.InitialPositionInStream;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.KinesisClientLibConfiguration;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.ShutdownReason;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.Worker;
import com.amazonaws.services.kinesis.clientlibrary.types.InitializationInput;
import com.amazonaws.services.kinesis.clientlibrary.types.ProcessRecordsInput;
import com.amazonaws.services.kinesis.clientlibrary.types.ShutdownInput;
import com.amazonaws.services.kinesis.clientlibrary.types.UserRecord;
import com.amazonaws.services.kinesis.metrics.impl.NullMetricsFactory;
import com.amazonaws.services.kinesis.model.Record;
import java.util.Date;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The same application with the Kinesis Client Library 1, which has one stream. */
public final class KclApplication {
  private static final int PATIENCE_SECONDS = 240;

  private final Map<String, Integer> left = new ConcurrentHashMap<>();
  private final CountDownLatch waiting;
  private final int perShard;

  private KclApplication(int perShard, int shards) {
    this.perShard = perShard;
    this.waiting = new CountDownLatch(shards);
  }

  public static void main(String[] args) throws Exception {
    var application = new KclApplication(Integer.parseInt(args[5]), Integer.parseInt(args[6]));
    var worker = application.worker(args[0], args[1], args[2], args[3], args[4]);
    var thread = new Thread(worker, "kcl");
    thread.setDaemon(true);
    thread.start();
    var isDone = application.waiting.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    System.out.flush();
    // The positions are stored. An orderly end would take longer, and sometimes does not come.
    Runtime.getRuntime().halt(isDone ? 0 : 1);
  }

  private Worker worker(
      String kinesis, String dynamodb, String name, String stream, String position) {
    var keys = new AWSStaticCredentialsProvider(new BasicAWSCredentials("local", "local"));
    var config =
        new KinesisClientLibConfiguration(name, stream, keys, "worker")
            .withKinesisEndpoint(kinesis)
            .withDynamoDBEndpoint(dynamodb)
            .withRegionName("us-east-1")
            .withFailoverTimeMillis(2000)
            .withShardSyncIntervalMillis(1000)
            .withParentShardPollIntervalMillis(500)
            .withIdleTimeBetweenReadsInMillis(250);
    var at =
        Character.isDigit(position.charAt(0))
            ? config.withTimestampAtInitialPositionInStream(new Date(Long.parseLong(position)))
            : config.withInitialPositionInStream(InitialPositionInStream.valueOf(position));
    return new Worker.Builder()
        .recordProcessorFactory(Processor::new)
        .config(at)
        .metricsFactory(new NullMetricsFactory())
        .build();
  }

  private final class Processor implements IRecordProcessor {
    private String shard;

    @Override
    public void initialize(InitializationInput input) {
      shard = input.getShardId();
      if (perShard == 0) waiting.countDown();
    }

    @Override
    public void processRecords(ProcessRecordsInput input) {
      for (Record record : input.getRecords()) {
        var remaining = left.merge(shard, perShard - 1, (old, first) -> old - 1);
        if (remaining < 0) return;
        print(record);
        store(input, record);
        if (remaining == 0) waiting.countDown();
      }
    }

    private void print(Record record) {
      System.out.println(
          String.join(
              " ",
              shard,
              record.getSequenceNumber(),
              Long.toString(((UserRecord) record).getSubSequenceNumber()),
              record.getPartitionKey()));
    }

    private void store(ProcessRecordsInput input, Record record) {
      try {
        input.getCheckpointer().checkpoint(record);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void shutdown(ShutdownInput input) {
      if (input.getShutdownReason() != ShutdownReason.TERMINATE) return;
      try {
        input.getCheckpointer().checkpoint();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      System.out.println(shard + " ended");
      waiting.countDown();
    }
  }
}
