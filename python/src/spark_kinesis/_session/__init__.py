"""How the connector's jar gets into a Spark session.

``jars`` finds the installed Spark and the jar for its Scala version, ``builder`` adds the jar to a
session that is about to start, and ``missing`` explains what to do when a running session has no
connector. All run in the Python process of the driver. Only ``builder`` and ``missing`` use
pyspark, when they are called.
"""
