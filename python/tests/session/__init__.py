"""The connector's jar and Spark sessions, without a JVM.

Which jar is chosen, where ``with_kinesis`` puts it so that no other jar is lost, and what the error
says if a running session has no connector. The tests replace the JVM by an object.
"""
