"""The table of conformance in ``localstack/README.md``: its rows and its figures.

Runs after the suites whose reports it reads.
"""
