"""The Python side of the local Kinesis, mostly without its server.

``stub_server`` answers in place of the server, so that the tests can prescribe refusals, pages and
a clock that stands still. ``tests/simulator`` tests the same classes against the real server.
"""
