"""What `pip install` needs for an extra, for messages.

They name packages of others, and not an extra of ours: pip finds the extra only where spark-kinesis
is published.
"""

CLI = "click rich boto3 aws_kinesis_agg six"
SPARK = "'pyspark>=4.0,<4.4'"
