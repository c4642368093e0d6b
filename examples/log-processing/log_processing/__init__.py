"""Distributed log processing: Kinesis to DynamoDB and EventBridge, with PySpark.

``job`` is the program that ``spark-submit`` runs. ``partition`` is what each Spark task does.
"""
