"""Makes `log_processing` importable: pytest adds the folder of this file to the path."""

from __future__ import annotations

from hypothesis import settings

# No test asserts wall-clock time: a busy machine is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
