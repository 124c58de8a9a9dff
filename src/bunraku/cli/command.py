"""The command `bunraku`: registration of subcommands, printing, and handling of errors."""

from __future__ import annotations

import _thread
import functools
import inspect
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console

from bunraku.cli.leaving import leave, leave_soon
from bunraku.errors import BunrakuError

if TYPE_CHECKING:
    from bunraku.stage import Entry

Verb = TypeVar("Verb", bound=Callable[..., Any])

EXAMPLES = """[bold]Try[/bold]

[cyan]bunraku play[/cyan]  open the demonstrations in the browser

[cyan]bunraku figures[/cyan]  list the ready-made figures

[cyan]bunraku show marionette25 --png puppet.png[/cyan]  draw a picture of a figure

[cyan]bunraku convert marionette22 puppet.yaml[/cyan]  write a figure to a file that you can edit

[cyan]bunraku check puppet.yaml[/cyan]  check a file after editing it

[cyan]bunraku simulate dance -o dance.mp4[/cyan]  simulate a marionette whose strings are pulled

[cyan]bunraku optimize swing_up -o swing.mp4[/cyan]  find the forces that swing a pendulum up

[cyan]bunraku climb up_the_wall -o climb.mp4[/cyan]  let a gecko climb a wall

[cyan]bunraku guide[/cyan]  guide a humanoid with keys or a gamepad

[cyan]bunraku carry living_room[/cyan]  let two robots and a person carry a piano

[cyan]bunraku --install-completion[/cyan]  let the Tab key complete commands and names
"""

app = typer.Typer(
    name="bunraku", no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False, epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
out, err = Console(emoji=False), Console(stderr=True, emoji=False)  # ":x:" in a path is no picture


def main() -> None:
    """Entry point of the `bunraku` command."""
    status: Any = 0
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # which would leave files half written
        signal.signal(signal.SIGTERM, lambda *_: leave(143))
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # the terminal is closed
        signal.signal(signal.SIGHUP, lambda *_: leave(129))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _not_lost
    try:
        app()
    except SystemExit as end:
        status = end.code
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has gone
        sys.stderr.close()
        status = 141
    except Exception:
        if not _Heard.interrupt:
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # already here: the exception, once freed, may send it again
        status = 130  # compiled modules that are being imported make another error of it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C finds nothing to stop
    if threading.active_count() > 1:  # do not wait for other threads
        leave(status)
    raise SystemExit(status)


class _Heard:
    """Whether Ctrl-C has been pressed."""

    interrupt = False


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C: a verb that keeps its best so far must not wait for kernels to be compiled."""
    _Heard.interrupt = True
    if _runs(_not_lost, frame):  # an exception would be dropped here, too
        _thread.start_new_thread(_again, ())
        return
    stop_waiting = getattr(sys.modules.get("bunraku.kernels.apart"), "stop_waiting", None)
    if stop_waiting is not None:  # it is while the module is being imported
        stop_waiting()
    raise _CtrlC


class _CtrlC(KeyboardInterrupt):
    """Ctrl-C, which is sent again if nobody has caught it: compiled modules, Python's own too, may drop an exception of a function
    that they call, for instance of `__eq__` while they look something up in a dictionary."""

    sent_again = False

    def __del__(self) -> None:
        if not self.sent_again and not _catches(self.__traceback__):
            _thread.start_new_thread(_again, ())


def _catches(reached: TracebackType | None) -> bool:
    """Whether the outermost function that an exception has `reached` is one of ours that has a handler: other modules catch no
    Ctrl-C for good."""
    if reached is None:
        return False
    frame = reached.tb_frame
    return str(frame.f_globals.get("__name__")).startswith("bunraku.") and bool(frame.f_code.co_exceptiontable)


def _not_lost(ignored: Any) -> None:
    """Python drops exceptions inside a destructor: a Ctrl-C that came at that moment is sent again a moment later.

    One that came inside a constructor leaves half an object, of whose destructor nobody wants to hear.
    """
    if isinstance(ignored.exc_value, KeyboardInterrupt):
        _thread.start_new_thread(_again, ())  # a threading.Thread holds locks while it starts
        if isinstance(ignored.exc_value, _CtrlC):
            ignored.exc_value.sent_again = True
    elif not _Heard.interrupt:
        sys.__unraisablehook__(ignored)


def _again() -> None:
    time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


def _runs(function: Callable[..., Any], frame: FrameType | None) -> bool:
    """Whether `frame` or one of its callers is a call of `function`."""
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def verb(*, alone: bool = False, epilog: str | None = None) -> Callable[[Verb], Verb]:
    """Makes a function a subcommand. Errors are printed once, in red, without a traceback.

    alone: whether the command works without arguments; any other command then prints its help.
    epilog: a text below its help.
    """

    def added(function: Verb) -> Verb:
        @functools.wraps(function)
        def guarded(*args: Any, **options: Any) -> None:
            with warnings.catch_warnings():
                warnings.showwarning = _warn
                try:
                    function(*args, **options)
                except BunrakuError as error:
                    say(str(error), style="red", to=err)
                    raise typer.Exit(130 if _Heard.interrupt else 1) from None
                except KeyboardInterrupt:
                    say("stopped", style="yellow", to=err)
                    raise typer.Exit(130) from None

        paragraphs = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(function) or "")  # the terminal breaks lines
        app.command(help=paragraphs, no_args_is_help=not alone, epilog=epilog)(guarded)
        return function

    return added


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    say(f"warning: {message}", style="yellow", to=err)


def say(text: str, *, style: str = "", to: Console = out) -> None:
    """Prints `text` on the console `to`, in a `style` of rich, unchanged: brackets are not markup, long lines are not wrapped."""
    to.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def tell(lines: Iterable[tuple[str, str]], *, width: int = 12) -> None:
    """Prints pairs of title and text (`lines`), with the titles in a column of `width` characters."""
    for title, text in lines:
        say(f"{title:<{width}}{text}")


def refuse_idle(why: str, **options: object) -> None:
    """Raises an error if any of `options` (values by name) was given, because it would have no effect. `why` is the advice."""
    if idle := [f"--{name}" for name, given in options.items() if given]:
        raise BunrakuError(f"{', '.join(idle)} would have no effect here\n  advice: {why}")


def file_entries(path: Path) -> list[Entry]:
    """The entries of the stage for the file at `path`. Imports the modules that this needs."""
    from bunraku.verbs.entries import entries_of

    return entries_of(path)


def open_stage(entries: Sequence[Entry], **options: Any) -> None:
    """Serves the stage with these `entries` until Ctrl-C; `options` are those of `play`. Files can be dropped on the page."""
    from bunraku.stage.serving import play
    from bunraku.teleop.dropped_files import exporters
    from bunraku.teleop.take_folder import TakeFolder, user_takes

    play(
        entries, opener="bunraku.verbs.entries:entries_of", exporters=exporters(), console=out, heard=leave_soon,
        shelf=TakeFolder(user_takes()), **options,
    )  # fmt: skip
    raise KeyboardInterrupt


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Bring articulated figures to life: string marionettes, mannequins, humanoids, a climbing gecko."""
    if version:
        from bunraku import __version__

        print(__version__)
        raise typer.Exit
