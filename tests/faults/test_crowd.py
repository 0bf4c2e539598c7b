"""Processes and threads at the same files: no reported edit is lost, no read is torn, and each history is one line.

The crowd is that of `benchmarks/crowd.py`, which lets twice as many processes go on for a minute.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import crowd


def test_a_crowd_of_edits_restores_and_undos_loses_nothing(tmp_path: Path) -> None:
    root, data = tmp_path.resolve() / "tree", tmp_path.resolve() / "data"
    root.mkdir()
    told = crowd.gather(root, data, 8, processes=4)
    assert crowd.judge(root, data, told) == []
    done = [report["what"] for report in told if report.get("ok")]
    assert {"write", "patch", "restore", "undo"} <= set(done)
    assert len(done) > 40


def test_the_judge_sees_a_lost_edit() -> None:
    before = ["row 1", "row 2", "mine", ""]
    assert crowd.one_more(before, ["row 1", "row 2", "yours", "mine", ""])
    assert crowd.one_more(before, ["row 2", "mine", "yours", ""]), "the oldest row may be cut off"
    assert not crowd.one_more(before, ["row 1", "row 2", "yours", ""])
    assert not crowd.one_more(before, before)
