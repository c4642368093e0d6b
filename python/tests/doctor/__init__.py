"""The findings of `spark-kinesis doctor`."""
