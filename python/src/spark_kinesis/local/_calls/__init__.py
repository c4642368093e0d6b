"""Requests to a local Kinesis, in plain HTTP and JSON.

Operations of the service (streams, shards, records) and of the local Kinesis alone (faults, clock,
statistics). Needs no package besides Python. Each module is a set of functions over
``.http_api.HttpApi``; they retry calls that are throttled or that a fault made fail.
"""
