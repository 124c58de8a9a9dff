"""Arguments that make no sense: every verb gives one clear error before any work, which says what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bunraku
from bunraku.ensemble.errand import require_area
from bunraku.ensemble.errand_file import load_errand
from bunraku.errors import BunrakuError, FileError
from bunraku.locomotion.climb.path_segments import Straight
from bunraku.planning.strings.goal import Goal
from bunraku.verbs.loading import VERBS

PENDULUM = bunraku.library.named("pendulum")
GOOD: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "simulate": ((PENDULUM,), {"duration": 1.0, "dt": 0.01}),
    "optimize": ((PENDULUM, ()), {"duration": 1.0, "dt": 0.01}),
    "plan": ((PENDULUM, Goal.at_configuration(PENDULUM, PENDULUM.start)), {"budget": 1.0}),
    "carry": ((None,), {"samples": 100}),
    "perform": ((None,), {}),
    "climb": (([Straight(0.1)],), {"dt": 0.005, "stride": 0.06, "quarter": 0.25, "friction": 1.0, "figure": None, "pause": 0.0}),
    "guide": (("humanoid", ()), {"seconds": 1.0}),
}
FIRST = {"simulate": "a Figure", "optimize": "a Figure", "plan": "a Figure", "carry": "an Errand", "perform": "a Script",
         "climb": "a list of segments", "guide": "a Humanoid or a file"}  # fmt: skip


def refused(verb: str, *args: Any, **options: Any) -> str:
    with pytest.raises(BunrakuError) as caught:
        getattr(bunraku, verb)(*args, **options)
    assert "\n  advice: " in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2
    return str(caught.value)


def test_every_verb_is_here() -> None:
    assert set(GOOD) == set(VERBS)


@pytest.mark.parametrize("bad", [None, 3, {}, b"x"])
@pytest.mark.parametrize("verb", GOOD)
def test_the_first_argument(verb: str, bad: Any) -> None:
    args, options = GOOD[verb]
    said = refused(verb, bad, *args[1:], **options)
    assert f"expected {FIRST[verb]}, got {bad!r}" in said or (verb == "climb" and bad == {} and "segments" in said)


@pytest.mark.parametrize("bad", ["x", float("nan"), -1.0, [], True, b"1"])
@pytest.mark.parametrize(
    ("verb", "option"), [(verb, option) for verb in GOOD for option in GOOD[verb][1] if option != "figure" and verb != "carry"]
)
def test_numbers(verb: str, option: str, bad: Any) -> None:
    args, options = GOOD[verb]
    said = refused(verb, *args, **{**options, option: bad})
    assert said.startswith(f"{option}: expected a number")
    assert repr(bad) in said


@pytest.mark.parametrize(
    ("verb", "option"),
    [("simulate", "duration"), ("simulate", "dt"), ("optimize", "duration"), ("optimize", "dt"), ("plan", "budget"),
     ("guide", "seconds")],
)  # fmt: skip
def test_none_is_no_number(verb: str, option: str) -> None:
    args, options = GOOD[verb]
    assert "expected a number" in refused(verb, *args, **{**options, option: None})


@pytest.mark.parametrize("verb", [verb for verb in GOOD if verb not in ("carry", "perform")])
def test_seed_and_progress(verb: str) -> None:
    args, options = GOOD[verb]
    for bad in ("x", -1, 0.5, True):
        assert "seed: expected a whole number" in refused(verb, *args, **options, seed=bad)
    assert "progress: expected a function" in refused(verb, *args, **options, progress=3)


def test_other_arguments() -> None:
    assert "expected a Figure, got 'gecko'" in refused("climb", [Straight(0.1)], figure="gecko")
    assert "a member of path: expected a list of segments, got 3" in refused("climb", [3])
    assert "expected a list of terms, got None" in refused("optimize", PENDULUM, None, duration=1.0)
    assert "expected a Goal or a configuration, got None" in refused("plan", PENDULUM, None)
    assert "expected pairs of a time and a command" in refused("guide", "humanoid", [3])


def test_an_area_that_nobody_crosses(tmp_path: Path) -> None:
    """A table of the ground of 100 km would take 32 TB."""
    for far in (1e5, float("inf"), float("nan")):
        with pytest.raises(BunrakuError, match="the area goes from 0"):
            require_area(((0.0, far), (0.0, 1.0)))
    file = tmp_path / "far.yaml"
    file.write_text("carry: tray\narea: [[0, 1e5], [-2, 2]]\n")
    with pytest.raises(FileError, match="at most 200 m apart") as caught:
        load_errand(file)
    assert caught.value.line == 2
