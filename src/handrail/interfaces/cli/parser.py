"""The words of the command line: commands, options, help."""

import argparse

_EXAMPLES = """\
examples:
  handrail serve --root ~/project                  serve the tools to an MCP client over stdio
  handrail approvals watch                         answer agents' questions in a second terminal
  handrail call read_files '{"files": [{"path": "README.md"}]}'
  handrail history src/app.py                      what happened to a file
  handrail undo                                    take the newest piece of work back, after a preview

Data lies in HANDRAIL_DATA_DIR, or in the user's data directory.
"""


def build() -> argparse.ArgumentParser:
    """The whole parser; `command` in its result is one of the words below."""
    parser = argparse.ArgumentParser(
        prog="handrail",
        description="File tools for AI agents: find, read, edit, look back and undo, behind one set of guards.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", dest="version_wanted", help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_serve(commands)
    _add_call(commands)
    _add_tools(commands)
    _add_past(commands)
    _add_upkeep(commands)
    _add_approvals(commands)
    return parser


Commands = argparse._SubParsersAction


def _add(commands: "Commands[argparse.ArgumentParser]", name: str, text: str) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False)


def _add_workspace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="a directory the tools may reach; may be repeated (default: from the configuration, else this directory)",
    )
    parser.add_argument("--config", metavar="FILE", help="a configuration file, over the user's own")


def _add_approve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--approve",
        choices=("ask", "auto", "deny"),
        help="ask a person before each change, let plain ones through, or refuse all (default: the configuration, "
        "else ask); secrets and protected places are asked about in any case",
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_serve(commands: "Commands[argparse.ArgumentParser]") -> None:
    serve = _add(commands, "serve", "serve the tools to an MCP client over standard input and output")
    _add_workspace(serve)
    _add_approve(serve)
    serve.add_argument(
        "--family", choices=("batch", "claude_code", "all"), default="batch", help="which tools (default: batch)"
    )
    serve.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="warning",
        help="what is logged to standard error (default: warning)",
    )


def _add_call(commands: "Commands[argparse.ArgumentParser]") -> None:
    call = _add(commands, "call", "call one tool and print its payload as JSON")
    call.add_argument("tool", metavar="TOOL", help="a tool's name; handrail tools lists them")
    call.add_argument("arguments", metavar="JSON", help="the tool's arguments; - reads them from standard input")
    _add_workspace(call)
    _add_approve(call)
    call.add_argument("--session", metavar="NAME", help="go on with this session: what it read counts as read")
    call.add_argument("--task", metavar="ID", help="the piece of work that this belongs to, for undo")


def _add_tools(commands: "Commands[argparse.ArgumentParser]") -> None:
    tools = _add(commands, "tools", "list the tools")
    tools.add_argument("--family", choices=("batch", "claude_code", "all"), default="all", help="which tools")
    _add_workspace(tools)
    _add_json(tools)


def _add_past(commands: "Commands[argparse.ArgumentParser]") -> None:
    history = _add(commands, "history", "list recorded versions, newest first")
    history.add_argument("path", nargs="?", metavar="PATH", help="of this file, or of all below this directory")
    history.add_argument("--limit", type=int, default=24, metavar="N", help="how many, 24 at most")
    history.add_argument("--task", metavar="ID", help="those of one piece of work")
    history.add_argument("--from", dest="since", metavar="TIME", help="since then: 2026-08-13, or 2026-08-13 15:04")
    history.add_argument("--to", dest="until", metavar="TIME", help="until then")
    diff = _add(commands, "diff", "show how a version differs from what is on disk now")
    restore = _add(commands, "restore", "put a version back, after a preview")
    for parser in (diff, restore):
        parser.add_argument("version", type=int, metavar="VERSION", help="its number, from handrail history")
    undo = _add(commands, "undo", "take a piece of work back, keeping what others changed since; after a preview")
    undo.add_argument("task", nargs="?", metavar="TASK", help="its id, from handrail history (default: the newest)")
    for parser in (restore, undo):
        parser.add_argument("--yes", action="store_true", help="do it without asking")
    for parser in (history, diff, restore, undo):
        _add_workspace(parser)
        _add_json(parser)


def _add_upkeep(commands: "Commands[argparse.ArgumentParser]") -> None:
    export = _add(commands, "export", "print a piece of work as a patch that git apply takes")
    export.add_argument("task", metavar="TASK", help="its id, from handrail history")
    export.add_argument("-o", "--output", metavar="FILE", help="write it to this new file")
    export.add_argument(
        "--include", action="append", default=[], metavar="PATH", help="a sensitive file that may be in it; repeatable"
    )
    tidy = _add(commands, "gc", "prune the history to its limits and pack what stays as tightly as it goes")
    for parser in (export, tidy):
        _add_workspace(parser)
    doctor = _add(commands, "doctor", "verify all of the history and say what is wrong with it")
    doctor.add_argument("--repair", action="store_true", help="mend it")
    for parser in (tidy, doctor):
        _add_json(parser)


def _add_approvals(commands: "Commands[argparse.ArgumentParser]") -> None:
    approvals = _add(commands, "approvals", "see and answer what agents ask")
    actions = approvals.add_subparsers(dest="action", metavar="ACTION")
    _add_json(approvals)
    _add_json(_add(actions, "list", "list what waits for an answer (the default)"))
    _add(actions, "watch", "show each question as it comes; one key answers it")
    rules = _add(actions, "rules", "list the answers that people said to remember")
    rules.add_argument("--revoke", type=int, metavar="ID", help="forget one")
    _add_json(rules)
