"""The log of a checkpoint: what may be moved, and what is kept aside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis.checkpoint import Checkpoint, open_files
from spark_kinesis.rewind.log import rewrite

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
    assert not (folder.path / "offsets/2").exists()


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
    with pytest.raises(CheckpointError, match="has changed: stop the query first"):
        rewrite(folder.checkpoint, position, offset(5), {}, NOW)
    assert folder.text("offsets/1") == f"{HEAD}\n{line(20)}"


class Racing(Checkpoint):
    """A checkpoint whose query plans a micro-batch right after the new position was written."""

    def __init__(self, folder: Folder, number: int) -> None:
        super().__init__(open_files(str(folder.path)))
        self.folder, self.number, self.reads = folder, number, 0

    def planned(self) -> list[int]:
        self.reads += 1
        if self.reads > 1:
            self.folder.batch(self.number, line(30), is_completed=False)
        return super().planned()


def test_a_batch_that_begins_during_the_move_is_noticed(folder: Folder) -> None:
    position = folder.position()
    with pytest.raises(CheckpointError, match=r"the query runs\..* micro-batch 2 ") as caught:
        rewrite(Racing(folder, 2), position, offset(5), {}, NOW)
    place = folder.path
    assert f"copy {place}/{FOLDER}/offsets/1 to {place}/offsets/1, and run" in str(caught.value)
    assert folder.text(f"{FOLDER}/offsets/1") == f"{HEAD}\n{line(20)}"


def test_a_batch_that_was_forgotten_is_among_the_files_to_copy_back(folder: Folder) -> None:
    folder.batch(2, line(30), is_completed=False)
    position = folder.position(drop_planned=True)
    with pytest.raises(CheckpointError, match="micro-batch 3 ") as caught:
        rewrite(Racing(folder, 3), position, offset(5), {}, NOW)
    place = folder.path
    assert f"copy {place}/{FOLDER}/dropped/2 to {place}/offsets/2, and" in str(caught.value)


def test_a_batch_that_ends_during_the_move_is_noticed(folder: Folder) -> None:
    folder.batch(2, line(30), is_completed=False)
    position = folder.position(drop_planned=True)

    class Ending(Racing):
        def planned(self) -> list[int]:
            self.reads += 1
            if self.reads > 1:
                folder.write("commits/2", "v1\n{}")
            return Checkpoint.planned(self)

    with pytest.raises(CheckpointError, match="micro-batch 2 ") as caught:
        rewrite(Ending(folder, 2), position, offset(5), {}, NOW)
    assert f"/dropped/2 to {folder.path}/offsets/2, and" in str(caught.value)


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
