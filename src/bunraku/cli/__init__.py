"""The command line: a function per verb. Heavy imports stand inside, so that `bunraku --help` answers at once.

To add a verb, write a function with `@verb()` in the module where it belongs: its signature is the command's, its docstring the
help. The help lists verbs in the order of the modules.
"""

from bunraku.cli import looking, making, playing
from bunraku.cli.command import app, main

__all__ = ["app", "looking", "main", "making", "playing"]
