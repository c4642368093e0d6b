package sparkkinesis.kcl;

import java.net.URI;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsAsyncClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.common.StreamConfig;
import software.amazon.kinesis.common.StreamIdentifier;
import software.amazon.kinesis.coordinator.Scheduler;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ProcessRecordsInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.metrics.NullMetricsFactory;
import software.amazon.kinesis.processor.FormerStreamsLeasesDeletionStrategy;
import software.amazon.kinesis.processor.MultiStreamTracker;
import software.amazon.kinesis.processor.ShardRecordProcessor;
import software.amazon.kinesis.processor.SingleStreamTracker;
import software.amazon.kinesis.processor.StreamTracker;
import software.amazon.kinesis.retrieval.KinesisClientRecord;
import software.amazon.kinesis.retrieval.polling.PollingConfig;

/**
 * An application of the Kinesis Client Library 2 or 3 that processes a number of user records of
 * each shard, stores where it stopped, and ends when it has done so in a number of shards.
 *
 * <p>Arguments: endpoint of Kinesis, endpoint of DynamoDB, name of the application, names of the
 * streams (several as account:name:seconds of its creation, with commas), initial position
 * (TRIM_HORIZON, LATEST or milliseconds since 1970), user records per shard, and for how many
 * shards it waits. With 0 user records, it ends when it has begun in so many shards. Prints one
 * line per record: shard, sequence number, sub-sequence number, key.
 */
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
    var scheduler = application.scheduler(args[0], args[1], args[2], args[3], args[4]);
    var thread = new Thread(scheduler, "kcl");
    thread.setDaemon(true);
    thread.start();
    var isDone = application.waiting.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    System.out.flush();
    // The positions are stored. An orderly end would take longer, and sometimes does not come.
    Runtime.getRuntime().halt(isDone ? 0 : 1);
  }

  private Scheduler scheduler(
      String kinesis, String dynamodb, String name, String streams, String position) {
    var client = async(KinesisAsyncClient.builder(), kinesis).build();
    var configs =
        new ConfigsBuilder(
            tracker(streams, position(position)),
            name,
            client,
            async(DynamoDbAsyncClient.builder(), dynamodb).build(),
            async(CloudWatchAsyncClient.builder(), dynamodb).build(),
            "worker",
            Processor::new);
    return new Scheduler(
        configs.checkpointConfig(),
        configs
            .coordinatorConfig()
            .shardConsumerDispatchPollIntervalMillis(200)
            .parentShardPollIntervalMillis(500),
        configs.leaseManagementConfig().failoverTimeMillis(2000).shardSyncIntervalMillis(1000),
        configs.lifecycleConfig(),
        configs.metricsConfig().metricsFactory(new NullMetricsFactory()),
        configs.processorConfig(),
        configs.retrievalConfig().retrievalSpecificConfig(polling(client, streams)));
  }

  private static PollingConfig polling(KinesisAsyncClient client, String streams) {
    var config =
        streams.contains(":") ? new PollingConfig(client) : new PollingConfig(streams, client);
    config.idleTimeBetweenReadsInMillis(250);
    return config;
  }

  private static <B extends AwsClientBuilder<B, C> & AwsAsyncClientBuilder<B, C>, C> B async(
      B builder, String endpoint) {
    var keys = StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local"));
    return builder
        .endpointOverride(URI.create(endpoint))
        .region(Region.US_EAST_1)
        .credentialsProvider(keys)
        .httpClientBuilder(NettyNioAsyncHttpClient.builder().protocol(Protocol.HTTP1_1));
  }

  private static InitialPositionInStreamExtended position(String text) {
    if (Character.isDigit(text.charAt(0)))
      return InitialPositionInStreamExtended.newInitialPositionAtTimestamp(
          new Date(Long.parseLong(text)));
    return InitialPositionInStreamExtended.newInitialPosition(
        InitialPositionInStream.valueOf(text));
  }

  private static StreamTracker tracker(String streams, InitialPositionInStreamExtended position) {
    if (!streams.contains(":"))
      return new SingleStreamTracker(StreamIdentifier.singleStreamInstance(streams), position);
    var names = List.of(streams.split(","));
    return new MultiStreamTracker() {
      @Override
      public List<StreamConfig> streamConfigList() {
        return names.stream()
            .map(it -> new StreamConfig(StreamIdentifier.multiStreamInstance(it), position))
            .collect(Collectors.toCollection(ArrayList::new));
      }

      @Override
      public FormerStreamsLeasesDeletionStrategy formerStreamsLeasesDeletionStrategy() {
        return new FormerStreamsLeasesDeletionStrategy.NoLeaseDeletionStrategy();
      }
    };
  }

  private final class Processor implements ShardRecordProcessor {
    private String shard;

    @Override
    public void initialize(InitializationInput input) {
      shard = input.shardId();
      if (perShard == 0) waiting.countDown();
    }

    @Override
    public void processRecords(ProcessRecordsInput input) {
      for (KinesisClientRecord record : input.records()) {
        var remaining = left.merge(shard, perShard - 1, (old, first) -> old - 1);
        if (remaining < 0) return;
        print(record);
        store(input, record);
        if (remaining == 0) waiting.countDown();
      }
    }

    private void print(KinesisClientRecord record) {
      System.out.println(
          String.join(
              " ",
              shard,
              record.sequenceNumber(),
              Long.toString(record.subSequenceNumber()),
              record.partitionKey()));
    }

    private void store(ProcessRecordsInput input, KinesisClientRecord record) {
      try {
        input.checkpointer().checkpoint(record.sequenceNumber(), record.subSequenceNumber());
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void leaseLost(LeaseLostInput input) {}

    @Override
    public void shardEnded(ShardEndedInput input) {
      try {
        input.checkpointer().checkpoint();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      System.out.println(shard + " ended");
      waiting.countDown();
    }

    @Override
    public void shutdownRequested(ShutdownRequestedInput input) {}
  }
}
