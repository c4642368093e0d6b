"""Log events from Kinesis to DynamoDB and EventBridge. Start to read in ``job``."""
