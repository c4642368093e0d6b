"""The commands `spark-kinesis …` on the pages, run as a reader would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_kinesis.local import LocalKinesis
from tests.docs.pages import all_pages

pytestmark = pytest.mark.slow

COMMAND = "spark-kinesis "
FENCES = [
    (page.name, fence)
    for page in all_pages()
    for fence in page.fences("sh")
    if fence.startswith((f"{COMMAND}advise", f"{COMMAND}tail"))
]


@pytest.fixture(scope="module")
def kinesis() -> Iterator[LocalKinesis]:
    with LocalKinesis(streams={"orders": 2}) as local:
        local.put("orders", [(f"customer-{number}", str(number)) for number in range(100)])
        yield local


@pytest.mark.parametrize(("page", "fence"), FENCES)
def test_the_commands_of_a_page_run(
    page: str, fence: str, kinesis: LocalKinesis, tmp_path: Path
) -> None:
    line = fence.replace("http://127.0.0.1:4567", kinesis.endpoint)
    line = line.replace(COMMAND, f"{sys.executable} -m spark_kinesis ")
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=tmp_path,
        env=dict(os.environ),
        timeout=300,
        capture_output=True,
        text=True,
        check=False,
    )
    said = (page, ended.stdout[-2000:] + ended.stderr[-2000:])
    if "advise --stream" in fence:  # has an advice, because the stream has hardly any traffic
        assert (ended.returncode, "merge" in ended.stdout) == (1, True), said
    else:
        assert (ended.returncode, ended.stdout != "") == (0, True), said


def test_there_is_a_command_to_run() -> None:
    assert FENCES
