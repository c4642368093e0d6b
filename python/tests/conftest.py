"""Settings of the property tests."""

from __future__ import annotations

import os

from hypothesis import settings

# No test asserts wall-clock time: a busy machine is no failure. `make campaign` tries more inputs.
EXAMPLES = int(os.environ.get("EXAMPLES", "100"))
settings.register_profile("patient", deadline=None, max_examples=EXAMPLES)
settings.load_profile("patient")
