"""The command `spark-kinesis diff`, without Spark."""
