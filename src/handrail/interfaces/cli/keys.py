"""A terminal's keyboard, one key or one line at a time, that can be left when the answer came from elsewhere."""

import codecs
import os
import select
import termios
import tty
from collections.abc import Callable
from types import TracebackType
from typing import Self

LOOK = 0.03
"""Seconds between two looks at whether to go on waiting."""

Stop = Callable[[], bool]
Echo = Callable[[str], None]


class Keys:
    """Keys of the terminal behind a file descriptor; inside `with`, they come unechoed and at once."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._saved: list[object] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __enter__(self) -> Self:
        self._saved = termios.tcgetattr(self._file)
        tty.setcbreak(self._file, termios.TCSADRAIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.restore()

    def restore(self) -> None:
        """Give the terminal back as it was; harmless when that is done already."""
        saved, self._saved = self._saved, None
        if saved is not None:
            termios.tcsetattr(self._file, termios.TCSADRAIN, saved)  # type: ignore[arg-type]  # as it was given

    def forget(self) -> None:
        """Leave out what was typed so far: it was meant for something else."""
        termios.tcflush(self._file, termios.TCIFLUSH)
        self._decoder.reset()

    def key(self, stop: Stop) -> str | None:
        """The next key; empty for one that isn't a character (arrows), `None` when `stop` or the input's end came."""
        while not stop():
            if not select.select([self._file], [], [], LOOK)[0]:
                continue
            data = os.read(self._file, 1)
            if not data or data == b"\x04":
                return None
            if data == b"\x1b":
                return self._escape()
            text = self._decoder.decode(data)
            if text:
                return text
        return None

    def line(self, stop: Stop, echo: Echo, *, start: str = "") -> str | None:
        """A line that the person edits from `start`; `None` when they press Escape, or when `stop` came."""
        text = start
        echo(text)
        while True:
            key = self.key(stop)
            if key is None or key == "\x1b":
                echo("\n")
                return None
            if key in "\r\n" and key:
                echo("\n")
                return text
            if key in "\x7f\b" and key:
                echo("\b \b" if text else "")
                text = text[:-1]
            elif key == "\x15":
                echo("\b \b" * len(text))
                text = ""
            elif key.isprintable():
                echo(key)
                text += key

    def _escape(self) -> str:
        """Escape itself, or nothing for the rest of what a function key sends."""
        alone = True
        while select.select([self._file], [], [], 0.005)[0]:
            alone = False
            if os.read(self._file, 1)[-1:].isalpha():
                break
        return "\x1b" if alone else ""
