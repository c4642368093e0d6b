"""The log of a checkpoint: what may be moved, and what is kept aside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.rewinding.log import rewrite

from .folder import FOLDER, HEAD, NOW, OTHER, Folder, line, offset


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.write("metadata", '{"id":"the query"}')
    made.write("sources/0/initial-offset.json", line(1))
    made.batch(0, line(10))
    made.batch(1, line(20))
    return made


def test_the_newest_completed_batch_is_rewritten(folder: Folder) -> None:
    position = folder.position()
    assert (position.batch, position.planned, position.offset) == (1, (), offset(20))
    assert rewrite(folder.checkpoint, position, offset(5), {"to": "x"}, NOW) == FOLDER
    assert folder.text("offsets/1") == f"{HEAD}\n{line(5)}"
    assert folder.text("offsets/0") == f"{HEAD}\n{line(10)}"
    assert folder.text(f"{FOLDER}/offsets/1") == f"{HEAD}\n{line(20)}"
    assert json.loads(folder.text(f"{FOLDER}/note.json")) == {"to": "x"}
    assert folder.text("metadata") == '{"id":"the query"}'
    assert folder.text("sources/0/initial-offset.json") == line(1)


def test_a_batch_that_is_not_completed_is_forgotten_only_on_demand(folder: Folder) -> None:
    folder.batch(2, line(30), is_completed=False)
    with pytest.raises(CheckpointError, match=r"micro-batch 2 was planned .*--drop-planned"):
        folder.position()
    position = folder.position(drop_planned=True)
    assert (position.batch, position.planned, position.offset) == (1, (2,), offset(20))
    rewrite(folder.checkpoint, position, offset(5), {}, NOW)
    assert folder.text(f"{FOLDER}/dropped/2") == f"{HEAD}\n{line(30)}"
    assert folder.text("offsets/2") == f"{HEAD}\n{line(5)}", "the sink cannot ignore a record"


def test_a_query_without_a_completed_batch_moves_its_start(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write("sources/0/initial-offset.json", line(1))
    folder.batch(0, line(10), is_completed=False)
    position = folder.position(drop_planned=True)
    assert (position.batch, position.offset) == (None, offset(1))
    rewrite(folder.checkpoint, position, offset(5), {}, NOW)
    assert folder.text("sources/0/initial-offset.json") == line(5)
    assert folder.text(f"{FOLDER}/sources/0/initial-offset.json") == line(1)
    assert folder.checkpoint.planned() == []


def test_other_sources_stay_if_they_are_named(folder: Folder) -> None:
    folder.batch(2, OTHER, line(30), "-")
    with pytest.raises(CheckpointError, match=r"other sources: 0, 2.*--keep 0"):
        folder.position()
    with pytest.raises(CheckpointError, match="other sources: 2"):
        folder.position(None, "0")
    position = folder.position("1", "0", "2")
    rewrite(folder.checkpoint, position, offset(5), {}, NOW)
    assert folder.text("offsets/2") == "\n".join([HEAD, OTHER, line(5), "-"])


def test_a_query_with_state_is_refused(folder: Folder) -> None:
    folder.write("state/0/0/1.delta", "")
    with pytest.raises(CheckpointError, match="keeps state"):
        folder.position()


def test_a_query_that_runs_is_refused(folder: Folder) -> None:
    position = folder.position()
    folder.batch(2, line(30))
    with pytest.raises(CheckpointError, match=r"its query runs\. Stop the query first"):
        rewrite(folder.checkpoint, position, offset(5), {}, NOW)
    assert folder.text("offsets/1") == f"{HEAD}\n{line(20)}"


def test_the_next_batch_of_a_query_that_still_runs_collides(folder: Folder) -> None:
    rewrite(folder.checkpoint, folder.position(), offset(5), {}, NOW)
    assert folder.text("offsets/2") == folder.text("offsets/1"), "the next batch is empty"
    assert folder.checkpoint.completed() == [0, 1]
    with pytest.raises(FileExistsError):
        folder.checkpoint.files.create("offsets/2", line(30))  # as Spark does


def test_a_query_that_was_moved_and_not_started_is_moved_again(folder: Folder) -> None:
    rewrite(folder.checkpoint, folder.position(), offset(5), {}, NOW)
    position = folder.position()
    assert (position.planned, position.offset) == ((2,), offset(5))
    later = NOW.replace(hour=4)
    aside = rewrite(folder.checkpoint, position, offset(7), {}, later)
    assert folder.text("offsets/1") == folder.text("offsets/2") == f"{HEAD}\n{line(7)}"
    assert folder.text(f"{aside}/dropped/2") == f"{HEAD}\n{line(5)}"


class Racing:
    """The files of a checkpoint whose query writes when the new position was written."""

    def __init__(self, folder: Folder, **written: str) -> None:
        self.files = folder.checkpoint.files
        self.folder, self.written = folder, written

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)

    def replace(self, path: str, text: str) -> None:
        self.files.replace(path, text)
        for name, text_ in self.written.items():
            self.folder.write(name.replace("_", "/"), text_)
        self.written = {}


def moved(folder: Folder, *, drop_planned: bool = False, **written: str) -> None:
    files: Any = Racing(folder, **written)
    position = folder.position(drop_planned=drop_planned)
    rewrite(Checkpoint(files), position, offset(5), {}, NOW)


def test_a_query_that_was_quicker_keeps_its_position(folder: Folder) -> None:
    mine = f"{HEAD}\n{line(30)}"
    with pytest.raises(CheckpointError, match=r"the query runs\..* with offsets/2 "):
        moved(folder, offsets_2=mine)
    assert folder.text("offsets/2") == mine
    assert folder.text("offsets/1") == folder.text(f"{FOLDER}/offsets/1") == f"{HEAD}\n{line(20)}"


@pytest.mark.parametrize(
    ("written", "path"), [({"commits_2": "v1"}, "commits/2"), ({"offsets_3": "v1"}, "offsets/3")]
)
def test_a_batch_that_was_forgotten_is_there_again_if_the_query_runs(
    folder: Folder, written: dict[str, str], path: str
) -> None:
    folder.batch(2, line(30), is_completed=False)
    with pytest.raises(CheckpointError, match=rf"the query runs\..* with {path} "):
        moved(folder, drop_planned=True, **written)
    assert folder.text("offsets/2") == f"{HEAD}\n{line(30)}"
    assert folder.text("offsets/1") == f"{HEAD}\n{line(20)}"


def test_an_empty_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="its query never ran"):
        Folder(tmp_path).position()


def test_several_starts_need_a_name(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for source in (0, 1):
        folder.write(f"sources/{source}/initial-offset.json", line(source))
    with pytest.raises(CheckpointError, match=r"name one of them\. Its Kinesis sources are: 0, 1"):
        folder.position()
    assert folder.position("1", "0").offset == offset(1)
