"""Log events from Kinesis to DynamoDB and EventBridge. Start reading in ``job``."""
