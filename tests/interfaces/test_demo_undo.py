"""The walk that a reader can run shows what it says: the person's lines stay."""

import subprocess
import sys
from pathlib import Path


def test_the_walk_through_undo_runs():
    walk = Path(__file__).parents[2] / "examples" / "undo.py"
    told = subprocess.run([sys.executable, str(walk)], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "keeping what others changed since" in told.stdout
    assert "stays as it is" in told.stdout
