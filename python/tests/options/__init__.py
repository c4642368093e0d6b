"""Fields, positions, credentials and exported names, without a session.

Types and values that are refused, the Spark options made of the fields, and texts that must show no
secret. ``typing_public_api.py`` is checked by mypy and never run.
"""
