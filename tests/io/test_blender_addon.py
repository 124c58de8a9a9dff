"""The add-on: its link to a stage, what bunraku does for it, and all of it in Blender."""

from __future__ import annotations

import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.blender import save_addon
from bunraku.blender.addon.stage_link import LinkError, StageLink, frames_of, starts
from bunraku.blender.requests import imitated, main, simulated
from bunraku.control import gestures
from bunraku.figure import library
from bunraku.kinematics import frames_along
from bunraku.motion import Motion
from bunraku.stage import Entry
from bunraku.stage.describe import figure as described
from bunraku.stage.mesh_store import Meshes
from bunraku.stage.serving import serve
from bunraku.teleop.viewing_places import at_hand
from tests.blender import blender, needs_blender


def stage():  # type: ignore[no-untyped-def]
    return serve([Entry("The arm", at_hand(library.arm2d())), Entry("Recorded", gestures.wave(1.0))])


@pytest.mark.parametrize("name", ["arm2d", "marionette22"])
def test_frames_as_the_add_on_computes_them(name: str) -> None:
    figure = library.named(name)
    told = described(figure, Meshes())
    q = figure.start + np.random.default_rng(2).normal(scale=0.3, size=figure.n_q)
    assert np.array_equal(starts(told), figure.start)
    assert np.allclose(frames_of(told, q), frames_along(figure, q[None])[0], atol=1e-12)


def test_the_link_follows_a_live_entry() -> None:
    with stage() as served:
        link = StageLink(served.address)
        (told,) = link.join("The arm")
        samples = []
        while len(samples) < 5:
            samples += link.poll()
            time.sleep(0.01)
        t = [time for time, _ in samples]
        assert t == sorted(t)
        assert all(len(q[0]) == len(told["variables"]) for _, q in samples)
        link.close()
        with pytest.raises(LinkError, match="recorded"):
            link.join("Recorded")
        with pytest.raises(LinkError, match="no entry 'nobody'"):
            link.join("nobody")
        with pytest.raises(LinkError, match="refused"):
            StageLink(f"{served.origin}/?token=wrong")
    with pytest.raises(LinkError, match="no stage answers"):
        StageLink(served.address)
    with pytest.raises(LinkError, match="whole address"):
        StageLink("127.0.0.1:80")


def test_controls_of_an_animation_move_the_puppet(tmp_path: Path) -> None:
    """Whoever animates a spindle gets physics: the hand follows it, though the animation left it where it was."""
    figure = library.named("arm2d")
    control = next(v.name for v in figure.variables if v.kinematic and v.motion == "translate")
    t = np.linspace(0.0, 1.0, 25)
    q = np.tile(figure.start, (len(t), 1))
    q[:, figure.index(control)] += 0.1 * t
    bunraku.save(Motion.of(figure, t, q), tmp_path / "a.glb")
    done = simulated(str(tmp_path / "a.glb"), 3.0)
    assert done.figure == figure
    assert np.isclose(done.duration, 1.0)
    assert np.isclose(np.ptp(done.column(control)), 0.1, atol=1e-5)
    assert np.abs(done.q - done.q[0])[:, : figure.n_dynamic].max() > 0.02
    assert main(["simulate", "nobody", str(tmp_path / "b.glb")]) == 1
    assert not (tmp_path / "b.glb").exists()


def test_a_puppet_imitates(tmp_path: Path) -> None:
    bunraku.save(gestures.wave(2.0), tmp_path / "person.glb")
    done = imitated(str(tmp_path / "person.glb"), "marionette22")
    assert done.figure == library.named("marionette22")
    assert np.abs(done.q - done.q[0]).max() > 0.3


@needs_blender
@pytest.mark.slow
def test_the_add_on_in_blender(tmp_path: Path) -> None:
    """Installed, used, removed."""
    save_addon(tmp_path / "addon.zip")
    bunraku.save(gestures.wave(2.0), tmp_path / "person.glb")
    figure = library.arm2d()
    with stage() as served:
        seen = blender("use_addon", tmp_path / "addon.zip", sys.executable, tmp_path / "person.glb", served.address, "The arm")
    home, panel = seen["installed"]
    assert panel
    assert Path(home).is_relative_to(tmp_path)
    still, later = seen["at_rest"]
    assert max(np.linalg.norm(np.subtract(still[bone], later[bone])) for bone in still) < 1e-3
    start, resting, end = seen["moved"]
    control = seen["control"]
    assert np.isclose(np.linalg.norm(np.subtract(end[control], start[control])), 0.4, atol=1e-3)
    assert max(np.linalg.norm(np.subtract(start[bone], resting[bone])) for bone in start) < 1e-3
    assert max(np.linalg.norm(np.subtract(end[bone], start[bone])) for bone in start if bone != control) > 0.01
    assert seen["things"].count("ARMATURE") == 1  # the twin that brought the action is gone
    assert "nobody" in seen["refused"]
    assert max(np.linalg.norm(np.subtract(*(moment[bone] for moment in seen["imitated"]))) for bone in seen["imitated"][0]) > 0.02
    samples = seen["followed"]["samples"]
    assert len(samples) >= 30
    X = frames_along(figure, np.array([q for _, q in samples]))
    for moment, heads in ((-1, seen["followed"]["heads"]), *enumerate(seen["baked"])):
        for bone, head in heads.items():
            assert np.linalg.norm(X[moment, figure.frame_index[bone], :3, 3] - head) < 1e-4, bone
    assert seen["stopped"]
    assert seen["removed"] == [False, False, False]


def test_the_command_writes_the_add_on(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from bunraku import cli

    done = CliRunner().invoke(cli.app, ["blender", str(tmp_path / "a.zip")])
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert set(archive.namelist()) == {
            f"bunraku_link/{name}" for name in ("__init__.py", "blender_manifest.toml", "panel.py", "stage_link.py")
        }
