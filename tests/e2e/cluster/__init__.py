"""Queries on several executors, and drivers that are killed. Takes minutes.

Each test runs a program of ``apps`` in a process of its own, on a local or a standalone cluster.
The programs lose, remove and add executors, repeat tasks, and restart from a checkpoint. Tests
marked ``cluster`` run on the oldest Spark only.
"""
