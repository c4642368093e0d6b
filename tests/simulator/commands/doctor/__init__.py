"""`spark-kinesis doctor` against the local Kinesis."""
