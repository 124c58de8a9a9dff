from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BunrakuError, FileError
from bunraku.outcome import STOPPED
from bunraku.planning.planning_outcomes import FOUND
from bunraku.planning.ways.find_way import extend, find
from bunraku.planning.ways.roadmap import Roadmap, load
from bunraku.planning.ways.steer import Bezier
from bunraku.planning.ways.visibility import learn
from tests.planning.rooms import space, wall

START, GOAL = np.array([-1.2, -1.0, 0.3]), np.array([1.2, -1.0, 2.0])


@pytest.fixture(scope="module")
def learnt():
    roadmap = Roadmap(space())
    state = learn(roadmap, seed=1, failures=60)
    return roadmap, state


def test_guards_do_not_see_each_other_and_connectors_join(learnt):
    roadmap, state = learnt
    assert state.outcome == FOUND
    assert state.components == 1
    assert state.guards < 60
    later = set(range(len(roadmap))) - set(roadmap.guards.tolist())
    for i, j in roadmap.edges:
        assert i in later, "an edge leads from a connector to a guard"
        assert j in roadmap.guards
        assert roadmap.space.sees(roadmap.nodes[i], roadmap.nodes[j])


def test_covers_the_room(learnt):
    roadmap, _ = learnt
    rng = np.random.default_rng(9)
    seen = [bool(roadmap.seen_from(roadmap.space.free_sample(rng))) for _ in range(60)]
    assert np.mean(seen) > 0.9


def test_the_same_seed_learns_the_same_roadmap(learnt):
    again = Roadmap(space())
    learn(again, seed=1, failures=60)
    assert np.array_equal(again.nodes, learnt[0].nodes)
    assert again.edges == learnt[0].edges


def test_paths_are_free_in_a_dense_check(learnt):
    roadmap, _ = learnt
    path = roadmap.search(START, GOAL)
    assert path is not None
    assert np.allclose(path.waypoints[0], START)
    assert np.abs(roadmap.space.steering.difference(path.waypoints[-1], GOAL)).max() < 1e-9
    assert roadmap.space.world.check(path.dense(0.005)).clearance.min() > 0.0


def test_saved_and_loaded(learnt, tmp_path):
    roadmap, _ = learnt
    roadmap.save(tmp_path / "room.npz")
    back = load(tmp_path / "room.npz", space())
    assert np.array_equal(back.nodes, roadmap.nodes)
    assert back.edges == roadmap.edges
    assert np.array_equal(back.guards, roadmap.guards)
    assert back.search(START, GOAL) is not None


def test_loaded_into_another_scene_only_free_edges_stay(learnt, tmp_path):
    learnt[0].save(tmp_path / "room.npz")
    back = load(tmp_path / "room.npz", space(wall(door=0.05)))
    assert 0 < len(back.edges) < len(learnt[0].edges)
    assert all(back.space.sees(back.nodes[i], back.nodes[j]) for i, j in back.edges)
    assert back.search(START, GOAL) is None


def test_files_that_are_something_else_are_refused(learnt, tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        load(tmp_path / "none.npz", learnt[0].space)
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(FileError, match="not a roadmap"):
        load(tmp_path / "text.npz", learnt[0].space)
    np.savez(tmp_path / "other.npz", nodes=np.zeros(3))
    with pytest.raises(FileError, match="not a roadmap"):
        load(tmp_path / "other.npz", learnt[0].space)
    learnt[0].save(tmp_path / "room.npz")
    with pytest.raises(FileError, match="another figure or steering"):
        load(tmp_path / "room.npz", space(parts=[Bezier("x", "y", "turn")]))


def test_an_edge_that_is_removed_is_not_used_again():
    roadmap = Roadmap(space())
    learn(roadmap, seed=1, failures=60)
    used = find(roadmap.space, START, GOAL, roadmap=roadmap, smooth=False).path
    assert used is not None
    nodes = [int(np.argmin(roadmap.space.distances(q, roadmap.nodes))) for q in used.waypoints[1:-1]]
    i, j = nodes[0], nodes[1]
    roadmap.remove_edge(i, j)
    with pytest.raises(BunrakuError, match="no edge"):
        roadmap.remove_edge(i, j)
    before = len(roadmap.guards)
    extend(roadmap, seed=2, guards=3, seconds=20)
    assert len(roadmap.guards) >= before
    assert (i, j) not in roadmap.edges
    assert (j, i) not in roadmap.edges
    again = find(roadmap.space, START, GOAL, roadmap=roadmap)
    assert again.outcome.ok


def test_ctrl_c_keeps_what_was_learnt():
    roadmap = Roadmap(space())

    heard = []

    def interrupt(word):
        heard.append(word)
        if len(heard) == 10:
            raise KeyboardInterrupt

    state = learn(roadmap, seed=1, progress=interrupt)
    assert state.outcome == STOPPED
    assert len(roadmap) > 0
    shorter = Roadmap(space())
    learn(shorter, seed=1, failures=60)
    assert np.array_equal(shorter.nodes[: len(roadmap)], roadmap.nodes), "a part of the same roadmap"
