"""What can go wrong, by name. Every message says where it is and what to do."""

from __future__ import annotations


class BunrakuError(Exception):
    """Base of every error that bunraku raises on purpose."""


class FigureError(BunrakuError):
    """A figure contradicts itself.

    `kind` and `name` say which part ("frame", "elbow"), `field` which of its words, so that a file reader
    can point at the line.
    """

    def __init__(self, message: str, *, kind: str = "figure", name: str = "", field: str = "", advice: str = "") -> None:
        self.message, self.kind, self.name, self.field, self.advice = message, kind, name, field, advice
        where = f"{kind} {name!r}" if name else kind
        text = f"{where}: {field + ': ' if field else ''}{message}"
        super().__init__(f"{text}\n  advice: {advice}" if advice else text)


class MotionError(BunrakuError):
    """A motion contradicts itself, or cannot be changed in the way asked for."""

    def __init__(self, message: str, *, advice: str = "") -> None:
        self.message, self.advice = message, advice
        super().__init__(f"{message}\n  advice: {advice}" if advice else message)


class UnknownName(FigureError, KeyError):
    """A name that the figure does not have; the message lists those that come close."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...], *, of: str = "") -> None:
        import difflib

        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        listed = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
        advice = f"did you mean {' or '.join(near)}?" if near else f"there are: {listed}" if known else "there are none"
        super().__init__(f"no {kind} is called {name!r}", kind=of or kind, name="" if not of else str(name), advice=advice)

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0])


class FileError(BunrakuError):
    """A file cannot be understood. Shows file, line, column, the line itself with a caret, and advice."""

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
            if mark > 120:  # a long line: show the part that matters
                shown, mark = "…" + shown[mark - 60 :], 61
            shown = shown[:160]
            if mark < len(shown) + 1:
                text += f"\n  {line} | {shown}\n  {' ' * len(str(line))} | {' ' * mark}^"
        if advice:
            text += f"\n  advice: {advice}"
        super().__init__(text)


class MissingExtra(BunrakuError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}\n  advice: pip install 'bunraku[{extra}]'")


class NotFinite(BunrakuError):
    """A NaN or an infinity was handed in, or came out."""


def parts(error: BunrakuError) -> tuple[str, str]:
    """What went wrong, and the advice, for somebody who can say more of where."""
    message, _, advice = str(error).partition("\n  advice: ")
    return message, advice


class BunrakuWarning(UserWarning):
    """Something in a file was left out or mended. One warning for a file names everything."""
