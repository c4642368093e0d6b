"""No secret in a plan, a checkpoint, a log at DEBUG, a progress report, an error or a repr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from apps import run_app

if TYPE_CHECKING:
    from pathlib import Path

    from streams import Stream

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)

KEY = "AKIAMADEUPKEYID00001"
SECRET = "made/up+secret+0123456789abcdefghijklmno"
TOKEN = "MadeUpSessionToken//0123456789abcdefghijklmnopqrstuvwxyz"


def test_no_secret_anywhere(stream: Stream, tmp_path: Path) -> None:
    checkpoint = str(tmp_path / "checkpoint")
    arguments = (stream.endpoint, stream.name, checkpoint, KEY, SECRET, TOKEN)
    ended = run_app("app_secrets", *arguments, cwd=tmp_path)
    assert "refused: " in ended.stdout
    assert "kinesis" in ended.stdout
    assert " DEBUG " in ended.stderr
    assert " DEBUG " in ended.stdout.partition("executors:")[2]
    texts = {"stdout": ended.stdout, "log": ended.stderr}
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any("offsets" in file.parts for file in files)
    texts |= {str(file): file.read_text(errors="replace") for file in files}
    leaks = [
        (where, line[:300])
        for where, text in texts.items()
        for line in text.splitlines()
        if SECRET in line or TOKEN in line
    ]
    assert leaks == []
