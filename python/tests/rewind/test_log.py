"""The log of a checkpoint: what may be moved, and what is kept aside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.rewinding.log import rewrite

from .folder import FOLDER, HEAD, OTHER, Folder, line, offset


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
    assert (position.batch.number, position.planned, position.offset) == (1, (), offset(20))
    rewrite(folder.checkpoint, position, offset(5), ["a shard", "a note"], FOLDER)
    assert folder.text("offsets/1") == f"{HEAD}\n{line(5)}"
    assert folder.text("offsets/0") == f"{HEAD}\n{line(10)}"
    assert folder.text(f"{FOLDER}/offsets/1") == f"{HEAD}\n{line(20)}"
    assert folder.text(f"{FOLDER}/plan.txt") == "a shard\na note\n"
    assert folder.text("metadata") == '{"id":"the query"}'
    assert folder.text("sources/0/initial-offset.json") == line(1)


def test_a_batch_that_is_not_completed_is_forgotten_only_on_demand(folder: Folder) -> None:
    folder.batch(2, line(30), is_completed=False)
    with pytest.raises(CheckpointError, match=r"micro-batch 2 was planned .*--drop-planned"):
        folder.position()
    position = folder.position(drop_planned=True)
    assert (position.batch.number, position.planned, position.offset) == (1, (2,), offset(20))
    rewrite(folder.checkpoint, position, offset(5), [], FOLDER)
    assert folder.text(f"{FOLDER}/dropped/2") == f"{HEAD}\n{line(30)}"
    assert folder.text("offsets/2") == f"{HEAD}\n{line(5)}", "the sink cannot ignore a record"


def test_a_query_without_a_completed_batch_is_refused(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write("sources/0/initial-offset.json", line(1))
    folder.batch(0, line(10), is_completed=False)
    with pytest.raises(CheckpointError, match="no completed micro-batch"):
        folder.position(drop_planned=True)


def test_other_sources_stay(folder: Folder) -> None:
    folder.batch(2, OTHER, line(30), "-")
    position = folder.position()
    assert (position.source, position.others) == ("1", ("0", "2"))
    rewrite(folder.checkpoint, position, offset(5), [], FOLDER)
    assert folder.text("offsets/2") == "\n".join([HEAD, OTHER, line(5), "-"])


def test_a_query_with_state_is_refused(folder: Folder) -> None:
    folder.write("state/0/0/1.delta", "")
    with pytest.raises(CheckpointError, match="keeps state"):
        folder.position()


def test_a_query_that_runs_is_refused(folder: Folder) -> None:
    position = folder.position()
    folder.batch(2, line(30))
    with pytest.raises(CheckpointError, match="is running: it has planned"):
        rewrite(folder.checkpoint, position, offset(5), [], FOLDER)
    assert folder.text("offsets/1") == f"{HEAD}\n{line(20)}"


def test_the_next_batch_of_a_query_that_still_runs_collides(folder: Folder) -> None:
    rewrite(folder.checkpoint, folder.position(), offset(5), [], FOLDER)
    assert folder.text("offsets/2") == folder.text("offsets/1"), "the next batch is empty"
    assert folder.checkpoint.completed() == [0, 1]
    with pytest.raises(FileExistsError):
        folder.checkpoint.files.create("offsets/2", line(30))  # as Spark does


def test_a_query_that_was_moved_and_not_started_is_moved_again(folder: Folder) -> None:
    rewrite(folder.checkpoint, folder.position(), offset(5), [], FOLDER)
    position = folder.position()
    assert (position.planned, position.offset) == ((2,), offset(5))
    aside = "rewinds/later"
    rewrite(folder.checkpoint, position, offset(7), [], aside)
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
    rewrite(Checkpoint(files), position, offset(5), [], FOLDER)


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
