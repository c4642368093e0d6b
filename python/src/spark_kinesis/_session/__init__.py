"""How the connector's jar gets into a Spark session.

Finds the installed Spark and the jar for its Scala version, adds the jar to a session that is about
to start, sets what real-time mode needs, and explains what to do when a running session has no
connector. Runs on the driver, in the Python process; only ``.builder`` and ``.missing`` use
pyspark, when they are called.
"""
