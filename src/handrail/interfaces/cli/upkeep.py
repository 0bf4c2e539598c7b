"""`handrail gc` and `handrail doctor`: the history kept small, and kept sound."""

import argparse
import os
import sys
import time
from dataclasses import asdict

from handrail.core.doctor import look
from handrail.interfaces.cli import screen
from handrail.interfaces.cli.opening import opened


def gc(options: argparse.Namespace) -> int:
    """Prune to the limits, tell older contents as differences, give room back."""
    with opened(options) as handrail:
        before = handrail.store.usage()
        pruned = packed = None
        for pruned in handrail.store.prune(handrail.limits, now=time.time_ns(), every_path=True):  # noqa: B007 -- the last one counts
            pass
        for packed in handrail.store.compact():  # noqa: B007
            pass
        after = handrail.store.usage()
    if options.json:
        screen.write_json({"before": asdict(before), "after": asdict(after)})
        return 0
    if pruned is not None and pruned.versions:
        screen.say(f"{pruned.versions} versions over the limits can't be restored any more\n")
    screen.say(f"{after.deltas} of {after.contents} contents are kept as differences from a newer one\n")
    screen.say(f"the history takes {after.bytes:,} bytes; it took {before.bytes:,}\n")
    if after.trash:
        screen.say(f"the trash takes {after.trash:,} bytes besides\n")
    if after.bytes > handrail.limits.bytes:
        screen.say("that is over the limit: all that is left is needed to undo what was done within the age limit\n")
    return 0


def doctor(options: argparse.Namespace) -> int:
    """Say everything that is wrong, a line each; 1 when something is wrong and stays so."""
    found = []
    for finding in look(None, os.environ, repair=options.repair):
        found.append(finding)
        if not options.json:
            paint = screen.painter(sys.stdout)
            state = "mended" if finding.mended else "note" if finding.harmless else "wrong"
            painted = paint(state, "green" if finding.mended else "yellow")
            to_do = finding.would if finding.mended else f"to do: {finding.would}"
            screen.say(f"{painted}: {screen.line(finding.said)}; {screen.line(to_do)}\n")
    unmended = [finding for finding in found if not finding.mended and not finding.harmless]
    if options.json:
        screen.write_json([asdict(finding) for finding in found])
    elif not found:
        screen.say("Every content reads as it was recorded, and nothing is left over.\n")
    elif unmended and not options.repair:
        screen.whisper("handrail doctor --repair does it.\n")
    return 1 if unmended else 0
