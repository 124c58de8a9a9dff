"""Logs, read back by the tools of those who read them: mcap, rosbags with ROS 2's own types, and Rerun."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bunraku
from bunraku.errors import BunrakuWarning, FileError, MissingExtra
from bunraku.figure import Box, library
from bunraku.kinematics import frames_along, pose
from bunraku.motion import Motion, Track, together
from bunraku.render.triangles import triangles
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import se3, so3

mcap_reader = pytest.importorskip("mcap.reader")
typesys = pytest.importorskip("rosbags.typesys")


def wandering(name: str = "marionette22", samples: int = 7) -> Motion:
    figure = library.named(name)
    rng = np.random.default_rng(2)
    q = figure.start + np.cumsum(rng.normal(scale=0.05, size=(samples, figure.n_q)), 0)
    ropes = len(figure.strings) + len(figure.wires)
    return Motion.of(
        figure, 0.3 + 0.01 * np.arange(samples), q, v=rng.normal(size=q.shape), tension=rng.uniform(0, 5, (samples, ropes))
    )


def messages(path: Path) -> dict[str, list[tuple[int, str, Any]]]:
    """Time, type and decoded message by topic: decoded by rosbags, with ROS 2 Humble's definitions where it has the type."""
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    out: dict[str, list[tuple[int, str, Any]]] = {}
    with path.open("rb") as file:
        for schema, channel, record in mcap_reader.make_reader(file).iter_messages():
            if schema.name not in store.types:
                store.register(typesys.get_types_from_msg(schema.data.decode(), schema.name))
            decoded = store.deserialize_cdr(record.data, schema.name)
            out.setdefault(channel.topic, []).append((record.log_time, schema.name, decoded))
    return out


def test_ros_2_reads_joint_states(tmp_path: Path) -> None:
    motion = wandering()
    bunraku.save(motion, tmp_path / "a.mcap")
    states = messages(tmp_path / "a.mcap")["/joint_states"]
    assert {kind for _, kind, _ in states} == {"sensor_msgs/msg/JointState"}
    for (time, _, state), t, q, v in zip(states, motion.t, motion.q, motion.v, strict=True):
        assert time == round(t * 1e9) == state.header.stamp.sec * 10**9 + state.header.stamp.nanosec
        assert tuple(state.name) == motion.figure.names
        assert np.array_equal(state.position, q)
        assert np.array_equal(state.velocity, v)
    pulls = messages(tmp_path / "a.mcap")["/tensions"]
    assert np.array_equal([m.effort for _, _, m in pulls], motion.tension)


def test_definitions_are_those_of_ros_2(tmp_path: Path) -> None:
    bunraku.save(wandering(), tmp_path / "a.mcap")
    for release in (typesys.Stores.ROS2_HUMBLE, typesys.Stores.ROS2_JAZZY):
        store = typesys.get_typestore(release)
        with (tmp_path / "a.mcap").open("rb") as file:
            schemas = mcap_reader.make_reader(file).get_summary().schemas.values()
        kinds = {schema.name: schema.data.decode() for schema in schemas}
        assert set(kinds) == {"sensor_msgs/msg/JointState", "tf2_msgs/msg/TFMessage", "foxglove_msgs/msg/SceneUpdate"}
        for name in ("sensor_msgs/msg/JointState", "tf2_msgs/msg/TFMessage"):
            own = typesys.get_typestore(typesys.Stores.EMPTY)
            own.register(typesys.get_types_from_msg(kinds[name], name))
            assert own.hash_rihs01(name) == store.hash_rihs01(name), name


def test_transforms_give_every_frame(tmp_path: Path) -> None:
    motion = wandering("mannequin")
    bunraku.save(motion, tmp_path / "a.mcap")
    log = messages(tmp_path / "a.mcap")
    (fixed,) = log["/tf_static"]
    X = frames_along(motion.figure, motion.q)
    for k, (_, kind, moving) in enumerate(log["/tf"]):
        assert kind == "tf2_msgs/msg/TFMessage"
        links = {one.child_frame_id: one for one in (*fixed[2].transforms, *moving.transforms)}
        assert set(links) == set(motion.figure.frame_index)
        for name, place in motion.figure.frame_index.items():
            found, at = np.eye(4), name
            while at != "world":
                t, r = links[at].transform.translation, links[at].transform.rotation
                found = se3.pose((t.x, t.y, t.z), (r.w, r.x, r.y, r.z)) @ found
                at = links[at].header.frame_id
            assert np.allclose(found, X[k, place], atol=1e-12), name


def test_foxglove_sees_shapes_strings_and_the_scene(tmp_path: Path) -> None:
    motion = wandering()
    table = Obstacle("table", Box((1.0, 2.0, 0.1)), (0, 0, 0.7))
    bunraku.save(motion, tmp_path / "a.mcap", scene=Scene("room", (table,)))
    updates = [m for _, _, m in messages(tmp_path / "a.mcap")["/scene"]]
    entities = [entity for update in updates for entity in update.entities]
    (box,) = next(e for e in entities if e.id == "scene/table").cubes
    assert (box.size.x, box.size.y, box.size.z, box.pose.position.z) == (1.0, 2.0, 0.1, 0.7)
    shapes = [e for e in entities if e.frame_id != "world"]
    assert len(shapes) == sum(shape.visible for shape in motion.figure.shapes)
    assert {e.frame_id for e in shapes} <= set(motion.figure.frame_index)
    assert all(e.frame_locked for e in shapes)
    capsule = next(e for e in shapes if e.triangles)
    corners = np.array([(p.x, p.y, p.z) for p in capsule.triangles[0].points])
    geometry = motion.figure.shapes[int(capsule.id.rpartition(" ")[2])].geometry
    assert np.array_equal(corners, triangles(geometry).vertices)
    string = motion.figure.strings[0]
    drawn = [e for e in entities if e.id == "string 0"]
    assert len(drawn) == len(motion)
    for entity, q in zip(drawn, motion.q, strict=True):
        ends = [(p.x, p.y, p.z) for p in (entity.lines[0].points[0], entity.lines[0].points[-1])]
        path = pose(motion.figure, q).path(string.name)
        assert np.allclose(ends, [path[0], path[-1]], atol=1e-12)


def test_mcap_comes_back(tmp_path: Path) -> None:
    motion = wandering()
    bunraku.save(motion, tmp_path / "a.mcap")
    back = bunraku.load(tmp_path / "a.mcap")  # the figure is found by its variables
    assert back.figure.name == "marionette22"
    assert np.array_equal(back.q, motion.q)
    assert np.array_equal(back.v, motion.v)
    assert np.allclose(back.t, motion.t, atol=1e-9)


def recorded(path: Path, *states: tuple[str, int, list[str], list[float]]) -> Path:
    """A log as another program writes it: by rosbags, with ROS 2's own types."""
    from mcap.writer import Writer

    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    state, header, time = (
        store.types[f"{name}"] for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2")
        text = store.generate_msgdef("sensor_msgs/msg/JointState", ros_version=2)[0]
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", text.encode())
        channels: dict[str, int] = {}
        for topic, at, names, values in states:
            if topic not in channels:
                channels[topic] = writer.register_channel(topic, "cdr", schema)
            message = state(header(time(at // 10**9, at % 10**9), ""), names, np.array(values), np.array([]), np.array([]))
            data = bytes(store.serialize_cdr(message, "sensor_msgs/msg/JointState"))
            writer.add_message(channels[topic], at, data, at)
        writer.finish()
    return path


def test_a_log_of_another_robot_program(tmp_path: Path) -> None:
    """Joints in another order, from two publishers, with one that the figure does not have."""
    path = recorded(
        tmp_path / "r.mcap",
        ("/joint_states", 1_000_000_000, ["elbow", "gripper"], [0.1, 9.0]),
        ("/joint_states", 1_010_000_000, ["shoulder"], [0.2]),
        ("/joint_states", 1_020_000_000, ["elbow", "gripper"], [0.3, 9.0]),
    )
    arm = library.arm2d()
    assert {"shoulder", "elbow"} <= set(arm.names)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", BunrakuWarning)
        motion = bunraku.load(path, figure=arm)
    assert any("joints left out: gripper" in str(w.message) for w in seen)
    assert np.allclose(motion.t, [1.0, 1.01, 1.02])
    assert np.allclose(motion.column("elbow"), [0.1, 0.1, 0.3])
    assert np.allclose(motion.column("shoulder"), [0.2, 0.2, 0.2])


def test_faults_of_logs(tmp_path: Path) -> None:
    two = recorded(tmp_path / "two.mcap", ("/a", 1, ["elbow"], [0.1]), ("/b", 2, ["elbow"], [0.1]))
    with pytest.raises(FileError, match=r"2 topics have joint states[\s\S]*topic='/a'"):
        bunraku.load(two, figure=library.arm2d())
    with pytest.raises(FileError, match="did you mean /a"):
        bunraku.load(two, figure=library.arm2d(), topic="/aa")
    with pytest.raises(FileError, match="none of the joints"):
        bunraku.load(two, figure=library.named("gecko"), topic="/a")
    with pytest.raises(FileError, match="no figure of the library"):
        bunraku.load(two, topic="/a")
    whole = two.read_bytes()
    for name, data in {"noise": bytes(range(256)) * 8, "cut": whole[: len(whole) // 2], "empty": b""}.items():
        (tmp_path / f"{name}.mcap").write_bytes(data)
        with pytest.raises(FileError, match=rf"{name}\.mcap"):
            bunraku.load(tmp_path / f"{name}.mcap", figure=library.arm2d())


def test_several_figures_have_topics_of_their_own(tmp_path: Path) -> None:
    a, b = wandering("pendulum", 3), wandering("double_pendulum", 3)
    bunraku.save(together(a, b), tmp_path / "a.mcap")
    log = messages(tmp_path / "a.mcap")
    assert {"/pendulum/joint_states", "/double_pendulum/joint_states"} <= set(log)
    back = bunraku.load(tmp_path / "a.mcap", topic="/double_pendulum/joint_states")
    assert np.array_equal(back.q, b.q)


def test_topics_have_names_that_ros_2_allows(tmp_path: Path) -> None:
    """Letters, digits and underscores between slashes; no word begins with a digit."""
    motion = wandering("pendulum", 3)
    names = ("Anna Müller", "2 文楽/B", "Anna_M_ller")
    tracks = tuple(Track(motion.figure, motion.q + k, name=name) for k, name in enumerate(names))
    bunraku.save(Motion(motion.t, tracks), tmp_path / "a.mcap")
    topics = [topic for topic in messages(tmp_path / "a.mcap") if topic.endswith("joint_states")]
    assert len(topics) == 3
    assert all(re.fullmatch(r"(/[A-Za-z_][A-Za-z0-9_]*)+", topic) for topic in topics), topics
    for k, topic in enumerate(topics):
        assert np.array_equal(bunraku.load(tmp_path / "a.mcap", figure=motion.figure, topic=topic).q, motion.q + k)


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcap_ros2.writer", None)
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingExtra, match=r"bunraku\[log\]"):
        bunraku.save(library.pendulum(), tmp_path / "a.mcap")
    with pytest.raises(MissingExtra, match=r"bunraku\[rerun\]"):
        bunraku.save(library.pendulum(), tmp_path / "a.rrd")
    assert list(tmp_path.iterdir()) == []


# -- Rerun -------------------------------------------------------------------------------------------------------------


def test_rerun_reads_its_file(tmp_path: Path) -> None:
    chunk = pytest.importorskip("rerun.chunk", reason="Rerun is not installed (300 MB): pip install 'bunraku[rerun]'")
    motion = wandering()
    table = Obstacle("my table", Box((1.0, 2.0, 0.1)), (0, 0, 0.7))
    bunraku.save(motion, tmp_path / "a.rrd", scene=Scene("room", (table,)))
    tool = Path(sys.executable).parent / "rerun"
    checked = subprocess.run([tool, "rrd", "verify", tmp_path / "a.rrd"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    values: dict[tuple[str, str], Any] = {}
    times: dict[str, Any] = {}
    for one in chunk.RrdReader(tmp_path / "a.rrd").stream():
        batch = one.to_record_batch()
        for column, field in zip(batch.columns, batch.schema, strict=True):
            if field.name == "t":
                times[one.entity_path] = np.array(column.cast("int64").to_numpy(zero_copy_only=False)) * 1e-9
            elif ":" in field.name:
                values.setdefault((one.entity_path, field.name), []).extend(column.to_pylist())
    figure = motion.figure
    path = {"world": "/marionette22"}
    X = frames_along(figure, motion.q)
    for k, frame in enumerate(figure.frames):
        path[frame.name] = f"{path[frame.parent]}/{frame.name}"
        shift = np.array([v[0] for v in values[path[frame.name], "Transform3D:translation"]])
        turn = np.array([v[0] for v in values[path[frame.name], "Transform3D:quaternion"]])
        above = np.eye(4) if frame.parent == "world" else X[:, figure.frame_index[frame.parent]]
        local = np.linalg.inv(above) @ X[:, k]
        assert np.allclose(shift, local[: len(shift), :3, 3], atol=1e-6), frame.name  # Rerun has 32-bit numbers
        assert np.allclose(so3.matrix(turn[:, [3, 0, 1, 2]]), local[: len(turn), :3, :3], atol=1e-6), frame.name
        if frame.variable is not None:
            assert len(shift) == len(motion)
            assert np.allclose(times[path[frame.name]], motion.t, atol=1e-9)
    name = figure.names[0]
    curve = [v[0] for v in values[f"/plots/marionette22/q/{name}", "Scalars:scalars"]]
    assert np.array_equal(curve, motion.q[:, 0])
    assert any(entity == "/scene/my\\ table" and "Mesh3D" in field for entity, field in values)
    strings = values["/marionette22/strings", "LineStrips3D:strips"]
    assert len(strings) == len(motion)
    hook = pose(figure, motion.q[-1]).path(figure.strings[0].name)[0]
    assert np.allclose(strings[-1][0][0], hook, atol=1e-6)
