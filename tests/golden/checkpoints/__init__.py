"""Checkpoints of released versions: see `__main__.py`."""
