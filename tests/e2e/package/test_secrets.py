"""No secret in a plan, a checkpoint, a log at DEBUG, a progress report, an error or a repr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.apps.printed_secrets import EXTERNAL_ID, KEY, SECRET, TOKEN
from tests.e2e.support import roles
from tests.e2e.support.programs import run_app
from tests.e2e.support.real_time import HAS_REAL_TIME

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)

HIDDEN = (KEY, SECRET, TOKEN, EXTERNAL_ID, roles.KEY, roles.SECRET, roles.TOKEN)


def test_no_secret_is_printed_or_logged(new_stream: Any, tmp_path: Path) -> None:
    source, target = new_stream(1), new_stream(1)
    checkpoint = str(tmp_path / "checkpoint")
    names = [source.name, target.name]
    ended = run_app("printed_secrets", source.endpoint, *names, checkpoint, cwd=tmp_path)
    assert ended.stdout.count("refused: ") == 2
    assert "kinesis" in ended.stdout
    assert ("copied in real time" in ended.stdout) == HAS_REAL_TIME
    assert " DEBUG " in ended.stderr
    assert " DEBUG " in ended.stdout.partition("executors:")[2]
    # Spark's plans show all options except those whose names look secret. AWS does not treat an
    # external id as a secret.
    printed = ended.stdout.replace(f"roleExternalId={EXTERNAL_ID}", "roleExternalId=shown")
    texts = {"stdout": printed, "log": ended.stderr}
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any("offsets" in file.parts for file in files)
    texts |= {str(file): file.read_text(errors="replace") for file in files}
    leaks = [
        (where, line[:300])
        for where, text in texts.items()
        for line in text.splitlines()
        if any(hidden in line for hidden in HIDDEN)
    ]
    assert leaks == []
