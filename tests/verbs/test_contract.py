"""The contract of a verb: who knows one knows all. See docs/architecture.md."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main
from typer.testing import CliRunner

import bunraku
from bunraku.cli import app
from bunraku.io.shipped import shipped_orders
from bunraku.motion import Motion
from bunraku.outcome import Outcome
from bunraku.progress import Progress
from bunraku.result import Result
from bunraku.verbs.loading import VERBS, order_class
from bunraku.verbs.order import Order, motion_of, outcome_of

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
SHARED = {"output", "plot", "seed", "play"}
QUICK = ("dance", "swing_up")  # shipped orders that take a second or two
SMALL = {
    "plan": "plan: arm3d\ngoal: {points: {tip: [0.2, 0.2, 0.1]}, within: 2 cm}\nseed: 1\n",
    "guide": "guide: humanoid\ninputs: [{at: 0 s, guided: left_foot, move: [0.6, 0, 0]}]\nseconds: 1 s\n",
}
"""Orders of verbs whose shipped ones take longer."""


def documented() -> list[Any]:
    """Every order that stands in the README or on a page of the documentation."""
    found = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for k, text in enumerate(re.findall(r"^```yaml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)):
            if text.partition(":")[0] in VERBS:
                found.append(pytest.param(text, id=f"{page.stem}-{k}"))
    return found


# -- Python ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_the_function(verb: str) -> None:
    function = getattr(bunraku, verb)
    assert verb in bunraku.__all__
    given = inspect.signature(function).parameters
    for name in ("seed", "progress"):
        assert given[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert given[name].default is None
    assert given["progress"].annotation == "Listener | None"
    assert not {"watch", "monitor", "listen", "callback"} & set(given)


@pytest.mark.parametrize("verb", VERBS)
def test_the_order_class(verb: str) -> None:
    order = order_class(verb)
    assert issubclass(order, Order)
    assert is_dataclass(order)
    assert order.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert order.verb == order.words[0] == verb
    assert list(inspect.signature(order.run).parameters) == ["self", "seed", "progress"]
    returned = inspect.signature(order.run).return_annotation
    assert returned == "Motion" if verb == "simulate" else issubclass(_result_class(order), Result)


def _result_class(order: type[Order]) -> Any:
    return getattr(sys.modules[order.__module__], str(inspect.signature(order.run).return_annotation))


# -- the command line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_the_command(verb: str) -> None:
    options = {option.name: option for option in COMMANDS[verb].params}
    assert set(options) >= SHARED
    others = {option.name: option for option in COMMANDS["simulate"].params}
    for name in SHARED - {"plot"}:
        assert options[name].help == others[name].help
        assert options[name].opts == others[name].opts


# -- what comes of an order ------------------------------------------------------------------------------------------


def whole(done: Any) -> None:
    """Has every member that a result has."""
    if isinstance(done, Motion):
        return
    assert isinstance(done, Result)
    assert isinstance(done.outcome, Outcome)
    assert done.motion is None or isinstance(done.motion, Motion)
    assert done.scene is None or isinstance(done.scene, bunraku.Scene)
    assert done.seed is None or isinstance(done.seed, int)
    assert all(isinstance(stage, str) and seconds >= 0.0 for stage, seconds in done.seconds.items())
    titles = [title for title, _ in done.report()]
    assert titles[0] == "outcome"
    assert str(done.outcome) in str(done)
    assert len(repr(done)) < 300


def same(motion: Motion, other: Motion) -> None:
    np.testing.assert_array_equal(motion.t, other.t)
    for track, twin in zip(motion.tracks, other.tracks, strict=True):
        np.testing.assert_array_equal(track.q, twin.q)


def told_and_written(source: str, folder: Path) -> None:
    """`load(source).run()` gives what the command writes, and tells its progress on the way."""
    order = bunraku.load(source)
    assert "\n" not in str(order)
    assert order.title
    told: list[Progress] = []
    done = order.run(progress=told.append)
    whole(done)
    assert told
    assert all(word.stage and 0.0 <= word.done <= 1.0 + 1e-9 for word in told)
    assert outcome_of(done).ok, outcome_of(done)
    file = folder / "written.npz"
    ended = CliRunner().invoke(app, [order.verb, source, "-o", str(file), "--no-play"])
    assert ended.exit_code == 0, ended.output
    same(motion_of(done), bunraku.load(file))
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".yaml") == ["written.npz"]


@pytest.mark.parametrize("name", QUICK)
def test_quick_shipped_orders(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told_and_written(name, tmp_path)


@pytest.mark.parametrize("verb", SMALL)
def test_small_orders(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order.yaml").write_text(SMALL[verb], encoding="utf-8")
    told_and_written("order.yaml", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(shipped_orders()) - set(QUICK)))
def test_other_shipped_orders(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told_and_written(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("text", documented())
def test_documented_orders(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order.yaml").write_text(text, encoding="utf-8")
    order = bunraku.load("order.yaml")
    order = replace(order, output=()) if order.output else order
    whole(order.run())
