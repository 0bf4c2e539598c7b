"""Drives deepagents' own grep and glob, in its own environment: one JSON request a line, one JSON answer a line.

Run by the search benchmark as `python deepagents_driver.py TREE`.
"""

import json
import sys
import time
from typing import Any


def main(tree: str) -> None:
    from deepagents.backends import FilesystemBackend  # type: ignore[import-not-found]

    backend = FilesystemBackend(root_dir=tree, virtual_mode=False)
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        began = time.perf_counter()
        result: Any = (backend.grep if request["kind"] == "contents" else backend.glob)(request["pattern"])
        took = (time.perf_counter() - began) * 1000
        error = result.error or ("truncated" if getattr(result, "truncated", False) else None)
        answer = {"took": took, "found": len(result.matches or ()), "said": str(error), "error": bool(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
