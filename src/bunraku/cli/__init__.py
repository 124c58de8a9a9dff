"""The command line: one function for each command. Heavy imports are inside the functions, so that `bunraku --help` is fast.

To add a command, write a function with `@verb()` in the module where it belongs. Its signature defines the arguments and options,
its docstring is the help. The help lists commands in the order of the modules.
"""

from __future__ import annotations

import importlib
import os
import signal
from typing import Any

__all__ = ["app", "looking", "main", "making", "playing", "sweeping"]


def main() -> None:
    """Entry point of the `bunraku` command."""
    usual: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    ours = [number for number, handler in usual.items() if signal.getsignal(number) is handler]
    for number in ours:  # no files are open yet: the process may end at once
        signal.signal(number, lambda number, _: os._exit(128 + number))
    command = _loaded()
    for number in ours:
        signal.signal(number, usual[number])
    command.main()


def _loaded() -> Any:
    """The module `command`, after all commands have been registered."""
    for name in ("looking", "making", "sweeping", "playing"):
        importlib.import_module(f"bunraku.cli.{name}")
    return importlib.import_module("bunraku.cli.command")


def __getattr__(name: str) -> Any:
    if name == "app":
        return _loaded().app
    if name in __all__:
        return importlib.import_module(f"bunraku.cli.{name}")
    raise AttributeError(f"module 'bunraku.cli' has no attribute {name!r}")
