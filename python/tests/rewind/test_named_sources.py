"""The log of a query whose sources have names."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis.tools.rewinding.log import rewrite

from .folder import FOLDER, HEAD, OTHER, Folder, line, offset


def test_a_log_with_names_keeps_its_version_and_its_names(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    head = HEAD.replace("v1", "v2")
    others = [f"clicks:{OTHER}", "late:-"]
    folder.write("offsets/2", "\n".join([head, others[0], f"orders:{line(30)}", others[1]]))
    folder.write("commits/2", "v1\n{}")
    with pytest.raises(CheckpointError, match=r"no source 0\. Its Kinesis sources are: orders"):
        folder.position("0")
    position = folder.position("orders")
    assert (position.source, position.others) == ("orders", ("clicks", "late"))
    assert position.offset == offset(30)
    rewrite(folder.checkpoint, position, offset(5), [], FOLDER)
    assert folder.text("offsets/2") == "\n".join([head, others[0], f"orders:{line(5)}", others[1]])
