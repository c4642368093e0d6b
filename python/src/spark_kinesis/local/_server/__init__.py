"""The process of a local Kinesis: its settings, its command, its start and its end.

The server is the Java program in the simulator's jar; it runs on the jar of Scala of the installed
Spark. A thread per process reads its output, so that it never blocks on a full pipe.
"""
