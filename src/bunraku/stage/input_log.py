"""The input log: all commands, each with the step before which it came. Replaying it gives bit-identical samples."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

from bunraku.errors import FileError
from bunraku.stage.hand_commands import BadCommand, Command, Reset, from_plain, to_plain
from bunraku.stage.live import Live, Sample
from bunraku.stage.stage_limits import StageLimits


class InputLog:
    """The `commands` to a `live` entry since its last reset, each with the index of the step before which it came.

    Commands beyond `limits.log_commands` are not logged.
    """

    def __init__(self, live: Live, commands: Iterable[tuple[int, Command]] = (), *, limits: StageLimits = StageLimits()) -> None:
        self._most = limits.log_commands
        self.figures = tuple(figure.name for figure in live.figures)
        self.dt = live.dt
        self.commands: list[tuple[int, Command]] = list(commands)

    def add(self, step: int, command: Command) -> None:
        """Logs a `command` that came before step `step`."""
        if len(self.commands) < self._most:
            self.commands.append((step, command))

    def to_json(self) -> str:
        """The log as JSON, as it is saved."""
        lines = ",\n".join(json.dumps([step, to_plain(command)]) for step, command in self.commands)
        head = json.dumps({"figures": self.figures, "dt": self.dt})
        return f'{head[:-1]}, "commands": [\n{lines}\n]}}\n'


def read_log(text: str, live: Live, *, path: str = "input log", limits: StageLimits = StageLimits()) -> InputLog:
    """The log in `text`; raises FileError if it does not fit the `live` entry, or exceeds `limits`. `path` is for messages."""
    try:
        plain = json.loads(text)
        fits = plain["figures"] == [f.name for f in live.figures] and plain["dt"] == live.dt
        commands = [_line(line) for line in plain["commands"]]
    except BadCommand as problem:
        raise FileError(str(problem), path=path) from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FileError("not an input log", path=path, advice="save one from the stage: Inputs, Save") from None
    if not fits:
        raise FileError(
            f"the log drives {plain['figures']} with steps of {plain['dt']} s", path=path,
            advice=f"open the entry that it was made with; this one has steps of {live.dt} s",
        )  # fmt: skip
    if len(commands) > limits.log_commands or any(b[0] < a[0] for a, b in itertools.pairwise(commands)):
        raise FileError("the steps of the log are out of order, or too many", path=path)
    return InputLog(live, commands)


def _line(line: Any) -> tuple[int, Command]:
    step, plain = line
    if isinstance(step, bool) or not isinstance(step, int) or step < 0 or not isinstance(plain, dict):
        raise ValueError("expected a step and a command")
    command = from_plain(plain)
    if isinstance(command, Reset):
        raise ValueError("a log starts at a reset and holds none")
    return step, command


def replay(log: InputLog, live: Live, steps: int) -> list[Sample]:
    """The samples of `steps` steps of a `live` entry, from its start, with the commands of a `log`."""
    live.reset()
    waiting, out = list(reversed(log.commands)), []
    for step in range(steps):
        while waiting and waiting[-1][0] <= step:
            live.apply(waiting.pop()[1])
        out.append(live.step())
    return out
