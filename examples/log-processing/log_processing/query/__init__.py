"""Queries of the stored log events: ``python -m log_processing.query --help``."""
