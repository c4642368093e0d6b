"""The values of a source and a sink, and the Spark options made of them.

Every class here is a frozen dataclass that checks types when you create it; the connector's jar
checks values. Nothing here imports pyspark, opens a file or calls a service.
"""
