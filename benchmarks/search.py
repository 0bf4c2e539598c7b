"""How fast Handrail searches: against `rg` alone and against what people use, how much memory, how it takes bombs.

Run with `make bench-search` (about half an hour and 1 GB of cache; `ARGS=--quick` takes minutes and 60 MB). Prints a
table of ratios; with `--strict` exit 1 when a limit is broken or a part of ours fails. `--only` picks parts.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import handrail.interfaces.api  # noqa: F401 -- whole before the clock runs, whoever changes it meanwhile
import search_memory
import search_peers
import search_tree
import search_whole
from search_table import Row, Table

PARTS = ("whole", "project", "glob", "memory", "bombs", "peers")


def main() -> int:
    asked = arguments()
    tree, project = search_tree.tree(quick=asked.quick), search_tree.project()
    for name, place in (("tree", tree), ("project", project)):
        size = search_tree.measured(place)
        print(f"{name}: {size.files:,} files, {size.directories:,} directories, {size.bytes:,} bytes")
    table = Table()
    for part, rows in parts(tree, project, asked).items():
        if part in asked.only:
            for row in rows():
                table.add(row)
    print(f"\n{len(table.rows)} rows, {len(table.broken)} broken or failed")
    for row in table.broken:
        print(f"  {row.verdict}: {row.part.partition(',')[0]}: {row.case}: {row.figure} {row.note}".rstrip())
    return 1 if asked.strict and table.broken else 0


def parts(tree: Path, project: Path, asked: argparse.Namespace) -> dict[str, Callable[[], Iterator[Row]]]:
    rounds = asked.rounds or (3 if asked.quick else 15)
    return {
        "whole": lambda: search_whole.whole(tree, rounds),
        "project": lambda: search_whole.small(project, rounds * 2),
        "glob": lambda: search_whole.globs(tree, rounds),
        "memory": lambda: search_memory.memory(quick=asked.quick),
        "bombs": lambda: search_memory.bombs(tree),
        "peers": lambda: search_peers.peers(tree, rounds),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/search.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tree of 5,000 files, 3 rounds")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a limit is broken")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="which parts (default: all)")
    parser.add_argument("--rounds", type=int, help="interleaved runs (default: 15, quick 3)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
