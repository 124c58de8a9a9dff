"""All errors and warnings. Every message says where the fault is and what to do."""

from __future__ import annotations

from collections.abc import Iterable


class BunrakuError(Exception):
    """Base of every error that bunraku raises on purpose."""


class FigureError(BunrakuError):
    """A figure or a scene is inconsistent.

    message: what is wrong
    kind, name: which part of the figure it is about ("frame", "elbow")
    field: which field of that part, so that the reader of a file can point at the line
    advice: what to do
    """

    def __init__(self, message: str, *, kind: str = "figure", name: str = "", field: str = "", advice: str = "") -> None:
        self.message, self.kind, self.name, self.field, self.advice = message, kind, name, field, advice
        where = f"{kind} {name!r}" if name else kind
        text = f"{where}: {field + ': ' if field else ''}{message}"
        super().__init__(f"{text}\n  advice: {advice}" if advice else text)


class MotionError(BunrakuError):
    """A motion is inconsistent, or cannot be changed as asked: `message` says why, `advice` what to do."""

    def __init__(self, message: str, *, advice: str = "") -> None:
        self.message, self.advice = message, advice
        super().__init__(f"{message}\n  advice: {advice}" if advice else message)


class UnknownName(FigureError, KeyError):
    """A name that does not exist; the message lists those that come close.

    kind: what was looked for ("frame")
    name: the name that was given
    known: the names that exist
    of: what the message names as its place, if that is not `kind`
    whole: whether the message lists all names, however many there are
    """

    def __init__(self, kind: str, name: str, known: tuple[str, ...], *, of: str = "", whole: bool = False) -> None:
        advice = did_you_mean(str(name), known, whole=whole)
        super().__init__(f"no {kind} is called {name!r}", kind=of or kind, name="" if not of else str(name), advice=advice)

    def __str__(self) -> str:  # KeyError would show the repr of the text
        return str(self.args[0])


class FileError(BunrakuError):
    """A file cannot be read or written. The text shows the place, the line itself with a caret, and advice.

    message: what is wrong
    path: the file, "" for text that comes from none
    line, column: the place, counted from 1
    source: the text of that line
    advice: what to do
    """

    def __init__(
        self, message: str, *, path: str = "", line: int | None = None, column: int | None = None,
        source: str = "", advice: str = "",
    ) -> None:  # fmt: skip
        self.message, self.path, self.line, self.column, self.advice = message, path, line, column, advice
        place = path or "<input>"
        if line is not None:
            place += f":{line}" + (f":{column}" if column is not None else "")
        text = f"{place}: {message}"
        if source and line is not None:
            shown, mark = source.rstrip("\n").replace("\t", " "), max((column or 1) - 1, 0)
            if mark > 120:  # a long line: show the part around the caret
                shown, mark = "…" + shown[mark - 60 :], 61
            shown = shown[:160]
            if mark < len(shown) + 1:
                text += f"\n  {line} | {shown}\n  {' ' * len(str(line))} | {' ' * mark}^"
        if advice:
            text += f"\n  advice: {advice}"
        super().__init__(text)


class MissingExtra(BunrakuError):
    """An optional package is not installed.

    package: its name
    extra: the extra of bunraku that installs it
    purpose: what needs it, the subject of the message
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}\n  advice: pip install 'bunraku[{extra}]'")


class NotFinite(BunrakuError):
    """A number that was passed in, or that resulted, is NaN or infinite."""


def did_you_mean(word: str, known: Iterable[str], *, whole: bool = False) -> str:
    """Advice for a `word` that is not among the `known` ones: those that come close, or else a list; with `whole`, both."""
    import difflib

    listed = list(known)
    close = difflib.get_close_matches(word[:80], listed[:300], n=3, cutoff=0.55)  # difflib is slow for longer lists
    near = f"did you mean {' or '.join(close)}?" if close else ""
    if near and not whole:
        return near
    most = len(listed) if whole else 16
    every = f"there are: {', '.join(listed[:most])}{' …' if len(listed) > most else ''}" if listed else "there are none"
    return f"{near} {every}".strip()


def parts(error: BunrakuError) -> tuple[str, str]:
    """The message and the advice of an `error`, for a caller that can say better where the fault is."""
    message, _, advice = str(error).partition("\n  advice: ")
    return message, advice


class BunrakuWarning(UserWarning):
    """Something in a file was left out or repaired. Each file gives one warning that lists everything."""
