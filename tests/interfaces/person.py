"""A person at a pseudo-terminal, for tests: sees what is written, presses keys when the keyboard listens."""

import os
import pty
import threading

from handrail.interfaces.cli.keys import Keys


class Person:
    def __init__(self):
        self._master, self.keyboard = pty.openpty()
        self.seen = ""
        self._listening = threading.Semaphore(0)
        person = self

        class Listening(Keys):
            def forget(self):
                super().forget()
                person._listening.release()

        self.keys = Listening(self.keyboard)

    def write(self, text):
        self.seen += text

    def presses(self, keys, *, when_asked=True):
        if when_asked:
            assert self._listening.acquire(timeout=10)
        os.write(self._master, keys.encode())

    def close(self):
        os.close(self._master)
        os.close(self.keyboard)


def plain(text, _):
    return text


def colored(text, style):
    return f"<{style}>{text}</>"
