"""Asks a search for what a case of RE2's tables says is found: texts as rows of one file, or each as a file."""

from pathlib import Path

from plain_view import Finder
from re2_tables import Case, Span

from handrail.model.answers import Found

NO_ROW = frozenset("\n\r\0\x1b")
"""What can't stand in a row, or makes a file something else than UTF-8 text."""
NO_FILE = frozenset("\0\x1b")
PLENTY = 1 << 30


class Asker:
    """Lays texts out below a directory, once each set of them, and compares what is found there with a case."""

    def __init__(self, root: Path, *, multiline: bool) -> None:
        self._finder = Finder(root)
        self._finder.view.until += PLENTY
        self._multiline = multiline
        self._places: dict[tuple[str, ...], tuple[str, dict[str, str]]] = {}

    def wrong(self, case: Case) -> list[tuple[str, object, object]]:
        """The texts in which something else was found than the table says, with what was found and what is right."""
        place, names = self._laid_out(case.texts)
        expected = {
            text: None if self._multiline and not text else _told(text, span)  # an empty file has no row
            for text, span in zip(case.texts, case.spans, strict=True)
            if text in names.values()
        }
        # The tables are of `^`, `$` and `.` as they are without flags.
        expression = f"(?-sm){case.expression}" if self._multiline else case.expression
        found = self._finder.search(
            expression, place, unit="content", multiline=self._multiline, text_cap=PLENTY, respect_ignore=False
        )
        told = self._first(found, names)
        return [(text, told.get(text), said) for text, said in expected.items() if not _alike(told.get(text), said)]

    def _laid_out(self, texts: tuple[str, ...]) -> tuple[str, dict[str, str]]:
        if texts not in self._places:
            place = f"{len(self._places):03}"
            directory = self._finder.root / place
            directory.mkdir()
            kept = [text for text in dict.fromkeys(texts) if not (NO_FILE if self._multiline else NO_ROW) & set(text)]
            if self._multiline:
                names = {f"{number:03}": text for number, text in enumerate(kept)}
                for name, text in names.items():
                    (directory / name).write_bytes(text.encode())
            else:
                names = {str(number): text for number, text in enumerate(kept, 1)}
                (directory / "rows").write_bytes("".join(text + "\n" for text in kept).encode())
            self._places[texts] = place, names
        return self._places[texts]

    def _first(self, found: Found, names: dict[str, str]) -> dict[str, tuple[int, str]]:
        told: dict[str, tuple[int, str]] = {}
        for row in found.rows:
            name = row.path.rpartition("/")[2] if self._multiline else str(row.row)
            told.setdefault(names[name], (row.row if self._multiline else 1, row.match or ""))
        return told


def _told(text: str, span: Span | None) -> tuple[int, str | None] | None:
    """The row and what is shown of a match; one behind the last line end lies in no row."""
    data = text.encode()
    if span is None or (span[0] == len(data) and text.endswith("\n")):
        return None
    start, end = span
    part = data[start:end].partition(b"\n")[0]
    try:
        return data.count(b"\n", 0, start) + 1, part.decode()
    except UnicodeDecodeError:
        return data.count(b"\n", 0, start) + 1, None


def _alike(told: tuple[int, str] | None, said: tuple[int, str | None] | None) -> bool:
    if told is None or said is None or said[1] is not None:
        return told == said
    return told[0] == said[0]  # `\C` took a part of a character, which can't be shown
