"""A command starts light: no MCP SDK, web, document or telemetry library is loaded for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"mcp", "mcp_types", "starlette", "uvicorn", "httpx2", "opentelemetry", "PIL", "pypdfium2", "docx", "openpyxl"}
RUN = """
import sys
from handrail.interfaces.cli.main import main
try:
    code = main(sys.argv[1:])
except SystemExit as left:
    code = left.code
sys.stderr.write("loaded: " + " ".join(sorted({name.partition(".")[0] for name in sys.modules})))
raise SystemExit(code)
"""


@pytest.mark.parametrize(
    "words",
    [["--version"], ["history"], ["call", "read_files", '{"files": [{"path": "a.txt"}]}'], ["tools", "--json"]],
    ids=lambda words: words[0],
)
def test_a_command_loads_no_heavy_library(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    env = {**os.environ, "HANDRAIL_DATA_DIR": str(tmp_path.parent / f"{tmp_path.name}-data")}
    done = subprocess.run([sys.executable, "-c", RUN, *words], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    loaded = set(done.stderr.decode().rpartition("loaded: ")[2].split())
    assert not HEAVY & loaded
