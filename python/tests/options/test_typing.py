"""Types of the public names: mypy accepts right uses and refuses wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

mypy_api = pytest.importorskip("mypy.api")


def test_public_api_types(tmp_path: Path) -> None:
    uses = Path(__file__).with_name("typing_public_api.py")
    strict = ["--strict", "--no-error-summary", "--cache-dir", str(tmp_path)]
    said, complaints, status = mypy_api.run([*strict, str(uses)])
    assert (status, complaints) == (0, ""), said
