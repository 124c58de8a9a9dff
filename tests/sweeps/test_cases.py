"""Cases and their keys: the same content has the same key, any other content another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bunraku.errors import BunrakuError
from bunraku.sweeps.cases import Cases, cases_of, source_digest
from bunraku.sweeps.order_document import OrderDocument
from bunraku.sweeps.value_paths import text_of

PENDULUM = {"simulate": "pendulum", "duration": 1}


def cases(
    order: Any = PENDULUM, over: Any = (), *, seeds: Sequence[int] | None = None, samples: int | None = None, **more: Any
) -> Cases:
    return cases_of(
        OrderDocument.of(order), over or {}, seeds=seeds, samples=samples, seed=more.get("seed", 0), measure=more.get("measure", "")
    )


def keys(*args: Any, **options: Any) -> list[str]:
    return [case.key for case in cases(*args, **options).list]


def test_a_grid_with_seeds() -> None:
    found = cases(over={"dt": "1ms,2ms", "duration": [1, 2, 3]}, seeds=[4, 5])
    assert len(found.list) == 12
    assert len({case.key for case in found.list}) == 12
    assert [(*map(text_of, case.values), case.seed) for case in found.list[:3]] == [
        ("1ms", "1", 4),
        ("1ms", "1", 5),
        ("1ms", "2", 4),
    ]


def test_listed_cases() -> None:
    found = cases(over=[{"dt": 0.01, "duration": 1}, {"dt": 0.02, "duration": 2}])
    assert [tuple(map(text_of, case.values)) for case in found.list] == [("0.01", "1"), ("0.02", "2")]
    with pytest.raises(BunrakuError, match="a case has no value"):
        cases(over=[{"dt": 0.01}, {"duration": 1}])


def test_more_samples_begin_with_the_same_ones() -> None:
    few, many = keys(over={"dt": "1ms:9ms"}, samples=5), keys(over={"dt": "1ms:9ms"}, samples=9)
    assert many[:5] == few
    assert len(set(many)) == 9
    assert not set(few) & set(keys(over={"dt": "1ms:9ms"}, samples=5, seed=1))
    mixed = cases(over={"dt": "1ms:9ms", "duration": [1, 2]}, samples=20)
    assert {text_of(case.values[1]) for case in mixed.list} == {"1", "2"}


def test_samples_and_ranges_belong_together() -> None:
    with pytest.raises(BunrakuError, match="no path has a range"):
        cases(over={"dt": "1ms"}, samples=3)
    with pytest.raises(BunrakuError, match="without a number of values"):
        cases(over={"dt": "1ms:2ms"})


def test_how_it_is_written_does_not_matter(tmp_path: Path) -> None:
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    one.write_text("simulate: pendulum   # a comment\nduration: 1.0\nstart: {angle: 0.50}\n")
    other.write_text("simulate: pendulum\nduration: 1\n\nstart:\n  angle: 0.5\n")
    assert keys(one) == keys(other) == keys({"simulate": "pendulum", "duration": 1, "start": {"angle": 0.5}})
    assert keys(one, over={"dt": "0.010"}) == keys(other, over={"dt": [0.01]})


def test_what_is_overridden_does_not_matter() -> None:
    assert keys({**PENDULUM, "dt": 0.5}, over={"dt": [0.01]}) == keys({**PENDULUM, "dt": 0.7}, over={"dt": [0.01]})
    assert keys(over={"dt": [1], "duration": [2]}) == keys(over={"duration": [2], "dt": [1]})


def test_any_other_content_has_another_key(tmp_path: Path) -> None:
    (tmp_path / "puppet.yaml").write_text("figure: puppet\nframes: [{rx: a, bodies: [{mass: 1, com: [0, 0, -1]}]}]\n")
    file = tmp_path / "order.yaml"
    file.write_text("simulate: puppet.yaml\nduration: 1\n")
    found = [
        *keys(file),
        *keys(file, seeds=[0]),
        *keys(file, seeds=[1]),
        *keys(file, over={"dt": [0.01]}),
        *keys(file, measure="m 1"),
    ]
    found += keys(file, over={"dt": ["0.01 s"]}) + keys({**PENDULUM, "start": '"settle"'}) + keys({**PENDULUM, "start": "settle"})
    (tmp_path / "puppet.yaml").write_text("figure: puppet\nframes: [{rx: a, bodies: [{mass: 2, com: [0, 0, -1]}]}]\n")
    found += keys(file)
    assert len(set(found)) == len(found)


def test_two_files_that_change_places(tmp_path: Path) -> None:
    file = tmp_path / "order.yaml"
    file.write_text("plan: a.yaml\nscene: b.yaml\n")
    (tmp_path / "a.yaml").write_text("figure: a\n")
    (tmp_path / "b.yaml").write_text("scene: b\n")
    before = keys(file)
    (tmp_path / "a.yaml").write_text("scene: b\n")
    (tmp_path / "b.yaml").write_text("figure: a\n")
    assert keys(file) != before


def test_another_source_has_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of code that was changed since must not be taken for those of the code that is there now."""
    (tmp_path / "a.py").write_text("x = 1\n")
    before = source_digest(tmp_path)
    source_digest.cache_clear()
    (tmp_path / "a.py").write_text("x = 2\n")
    assert source_digest(tmp_path) != before
    source_digest.cache_clear()
    made = []
    for digest in ("one", "two"):
        monkeypatch.setattr("bunraku.sweeps.cases.source_digest", lambda digest=digest: digest)
        made += keys(over={"dt": [0.01]})
    assert made[0] != made[1]
