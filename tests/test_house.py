"""The house keeps its own rules: layers, sizes, names, and docs that tell what the code does."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.model.errors import KINDS

HOME = Path(__file__).parent.parent
SOURCE = HOME / "src" / "handrail"
MODULES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_has_at_most_300_lines(module: Path) -> None:
    assert len(module.read_text().split("\n")) <= 301


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_says_what_it_is_for_and_hides_nothing(module: Path) -> None:
    tree = ast.parse(module.read_text())
    assert ast.get_docstring(tree)
    assert "TYPE_CHECKING" not in module.read_text()
    assert not {"utils", "helpers", "common", "manager"} & set(module.relative_to(SOURCE).with_suffix("").parts)


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_text_is_never_split_or_replaced_in_ways_that_lose_bytes(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Attribute):
            assert node.attr != "splitlines", f"line {node.lineno}"
            assert node.attr not in {"read_text", "write_text"}, f"line {node.lineno}"


def test_only_the_resolver_makes_a_real_path() -> None:
    callers = [m for m in MODULES if re.search(r"\bseal\(", m.read_text()) and m != SOURCE / "model" / "paths.py"]
    assert callers == [SOURCE / "guard" / "resolve.py"]


def test_only_the_writer_and_the_composition_root_hold_the_writing_half() -> None:
    holders = {str(m.relative_to(SOURCE)) for m in MODULES if "WritableFileSystem" in m.read_text()}
    assert holders <= {
        "fs/protocol.py", "fs/host.py", "core/apply.py", "core/recovery.py", "core/ground.py", "core/workspace.py",
        "core/steps.py", "core/states.py",
    }  # fmt: skip


def test_the_import_contract_holds() -> None:
    done = subprocess.run([Path(sys.executable).parent / "lint-imports"], cwd=HOME, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_every_kind_of_error_is_documented() -> None:
    page = (HOME / "docs" / "errors.md").read_text()
    for kinds in KINDS.values():
        for kind in kinds:
            assert f"`{kind}`" in page


def test_the_generated_pages_are_what_the_code_says(tmp_path: Path) -> None:
    schemas = tmp_path / "families"
    schemas.mkdir()
    subprocess.run([sys.executable, "-m", "handrail.interfaces.reference", tmp_path, schemas], check=True)
    kept = SOURCE / "families" / "schemas.json"
    assert (schemas / kept.name).read_text() == kept.read_text(), "run `make docs`"
    for made in tmp_path.glob("*.md"):
        assert made.read_text() == (HOME / "docs" / made.name).read_text(), f"run `make docs`: {made.name}"


def test_every_public_name_of_a_module_is_used_somewhere() -> None:
    words: dict[str, int] = {}
    texts = [p.read_text() for top in ("src", "tests", "benchmarks", "examples") for p in (HOME / top).rglob("*.py")]
    for text in texts:
        for word in set(re.findall(r"\w+", text)):
            words[word] = words.get(word, 0) + len(re.findall(rf"\b{word}\b", text))
    unused = []
    for module in MODULES:
        for node in ast.parse(module.read_text()).body:
            name = getattr(node, "name", None)
            if name and words[name] < 2:
                unused.append(f"{module.relative_to(SOURCE)}: {name}")
    assert unused == []


def test_the_readme_runs(tmp_path: Path) -> None:
    page = (HOME / "README.md").read_text()
    (tmp_path / "README.md").write_bytes(page.encode())  # where a reader first tries it: in the project itself
    (tmp_path / "a.py").write_bytes(b"# TODO: everything\n")
    before = sorted(p.name for p in tmp_path.iterdir())
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)  # type: ignore[union-attr]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        input=b"y\ny\ny\n",
        capture_output=True,
        check=False,
        env={**os.environ, "HANDRAIL_DATA_DIR": str(tmp_path / "data")},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"+- it" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "data") == before


def test_nothing_committed_names_the_machine_it_was_made_on() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=HOME, capture_output=True, check=True).stdout
    words = re.compile(rb"/work/(main|shared)|\.library|\.pyenv|find-links")
    for name in filter(None, listed.split(b"\0")):
        path = HOME / os.fsdecode(name)
        if path.suffix in {".py", ".md", ".toml", ".json", ""} and path.is_file() and path != Path(__file__):
            assert not words.search(path.read_bytes()), path
