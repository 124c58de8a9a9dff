"""ROS 2 over DDS: hashes, bytes, and messages between two processes, of which the other one shares no code with bunraku.

Hashes and bytes are compared with those of rosbags; one hash with what `ros2 topic info --verbose` of a robot printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bunraku
from bunraku.cli import app
from bunraku.errors import BunrakuError, MissingExtra, UnknownName
from bunraku.io.logs import ros_messages as ros
from bunraku.io.logs.joint_states import joint_state
from bunraku.io.ros2 import dds_types, publish_states, publish_trajectory, receive_states
from tests.patience import PATIENCE

KINDS = [kind for kind in ros._fields() if not kind.startswith("foxglove_msgs/")]
JOINT_STATE = "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e"
LOOPBACK = """<CycloneDDS><Domain>
<General><AllowMulticast>false</AllowMulticast><Interfaces><NetworkInterface name="lo"/></Interfaces></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers></Discovery>
</Domain></CycloneDDS>"""


@pytest.fixture(scope="module")
def store() -> Any:
    typesys = pytest.importorskip("rosbags.typesys")
    return typesys.get_typestore(typesys.Stores.ROS2_JAZZY)


@pytest.mark.parametrize("kind", KINDS)
def test_hashes_are_those_of_ros_2(store: Any, kind: str) -> None:
    assert dds_types.type_hash(kind) == store.hash_rihs01(kind.replace("/", "/msg/"))


def test_a_hash_is_the_one_that_ros_2_prints() -> None:
    assert dds_types.type_hash("sensor_msgs/JointState") == JOINT_STATE


def plain(store: Any, kind: str, values: dict[str, Any]) -> Any:
    """A message of rosbags from the same values."""
    out = {}
    for form, name in ros.fields(kind):
        item, value = form.removesuffix("[]"), values[name]
        if "/" in item:
            value = [plain(store, item, one) for one in value] if form != item else plain(store, item, value)
        out[name] = np.array(value) if form == "float64[]" else value
    return store.types[kind.replace("/", "/msg/")](**out)


@pytest.mark.parametrize("kind", ["sensor_msgs/JointState", "trajectory_msgs/JointTrajectory"])
def test_bytes_are_those_of_ros_2(store: Any, kind: str) -> None:
    pytest.importorskip("cyclonedds")
    rng = np.random.default_rng(len(kind))
    numbers = {name: rng.normal(size=3).tolist() for name in ("position", "velocity", "effort")}
    values = joint_state(1_234_567_890_123_456_789, ["a", "größer", ""], **numbers)
    if kind != "sensor_msgs/JointState":
        one = {"positions": [1.0], "velocities": [], "accelerations": [0.5, 2.0], "effort": [], "time_from_start": ros.stamp(5)}
        values = {"header": values["header"], "joint_names": ["é", "elbow"], "points": [one, one | {"positions": []}]}
    name = kind.replace("/", "/msg/")
    assert dds_types.filled(kind, values).serialize(use_version_2=False) == bytes(
        store.serialize_cdr(plain(store, kind, values), name)
    )
    assert dds_types.dds_type(kind).__idl_typename__ == f"{name.replace('/', '::').replace('msg::', 'msg::dds_::')}_"


# -- two processes -------------------------------------------------------------------------------------------------

OTHER = """
import json, sys, time
from dataclasses import dataclass
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import float64, int32, sequence, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

@dataclass
@final
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32

@dataclass
@final
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str

@dataclass
@final
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]

@dataclass
@final
class Point(IdlStruct, typename="trajectory_msgs::msg::dds_::JointTrajectoryPoint_"):
    positions: sequence[float64]
    velocities: sequence[float64]
    accelerations: sequence[float64]
    effort: sequence[float64]
    time_from_start: Time

@dataclass
@final
class Trajectory(IdlStruct, typename="trajectory_msgs::msg::dds_::JointTrajectory_"):
    header: Header
    joint_names: sequence[str]
    points: sequence[Point]

does, name, domain, count, user = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
kind = Trajectory if does == "trajectory" else JointState
quality = Qos(Policy.Reliability.Reliable(duration(seconds=10)), Policy.History.KeepLast(1000),
              Policy.DataRepresentation(use_cdrv0_representation=True), Policy.Userdata(user.encode()))
participant = DomainParticipant(domain)
topic = Topic(participant, name, kind)
if does == "send":
    writer = DataWriter(participant, topic, quality)
    while not writer.get_matched_subscriptions():
        time.sleep(0.01)
    for k in range(count):
        writer.write(JointState(Header(Time(7, 1000 * k), ""), ["theta", "spare"], [0.1 * k, 5.0], [], []))
    writer.wait_for_acks(duration(seconds=60))
    print("[]")
else:
    reader, there = DataReader(participant, topic, quality), BuiltinDataReader(participant, BuiltinTopicDcpsPublication)
    got, told = [], {}
    while len(got) < count or not told:
        got += [m for m in reader.take(N=1000) if isinstance(m, kind)]
        told |= {p.topic_name: [p.type_name, bytes(p.qos[Policy.Userdata].data).decode()] for p in there.take(N=100)
                 if getattr(p, "qos", None) and Policy.Userdata in p.qos and p.topic_name == name}
        time.sleep(0.002)
    def tree(m):
        if isinstance(m, list):
            return [tree(v) for v in m]
        return {k: tree(v) for k, v in vars(m).items()} if hasattr(m, "__dict__") else m
    print(json.dumps([told, [tree(m) for m in got]]))
"""


class Other:
    """The other process: sends or receives with cyclonedds alone."""

    def __init__(self, does: str, topic: str, domain: int, count: int, folder: Path, user: str = "") -> None:
        script = folder / f"{does}.py"
        script.write_text(OTHER)
        command = [sys.executable, str(script), does, f"rt/{topic}", str(domain), str(count), user]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def result(self) -> Any:
        out, _ = self.process.communicate(timeout=PATIENCE)
        return json.loads(out)


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch, worker_id: str) -> int:
    pytest.importorskip("cyclonedds", reason="pip install 'bunraku[ros2]'")
    monkeypatch.setenv("CYCLONEDDS_URI", LOOPBACK)
    own = 100 + int(worker_id.removeprefix("gw") or 0) if worker_id.startswith("gw") else 100
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own))
    return own


@pytest.fixture(scope="module")
def swing() -> bunraku.Motion:
    return bunraku.simulate(bunraku.library.named("cart_pendulum"), duration=0.08)  # ten messages are kept until they are received


def test_another_process_receives_joint_states(domain: int, swing: bunraku.Motion, tmp_path: Path) -> None:
    other = Other("receive", "arm/joint_states", domain, len(swing), tmp_path)
    publish_states(swing, "/arm/joint_states", patience=PATIENCE, speed=2.0)
    told, messages = other.result()
    assert told == {"rt/arm/joint_states": ["sensor_msgs::msg::dds_::JointState_", f"typehash={JOINT_STATE};"]}
    assert [m["name"] for m in messages] == [list(swing.figure.names)] * len(swing)
    np.testing.assert_array_equal([m["position"] for m in messages], swing.q)
    stamps = np.array([m["header"]["stamp"]["sec"] * 10**9 + m["header"]["stamp"]["nanosec"] for m in messages])
    np.testing.assert_allclose((stamps - stamps[0]) * 1e-9, swing.t / 2.0, atol=1e-8)
    assert swing.v is not None
    np.testing.assert_array_equal([m["velocity"] for m in messages], 2.0 * swing.v)


def test_another_process_receives_a_trajectory(domain: int, swing: bunraku.Motion, tmp_path: Path) -> None:
    other = Other("trajectory", "controller/joint_trajectory", domain, 1, tmp_path)
    publish_trajectory(swing, "/controller/joint_trajectory", joints=["theta"], patience=PATIENCE)
    told, (message,) = other.result()
    ((kind, user),) = told.values()
    assert kind == "trajectory_msgs::msg::dds_::JointTrajectory_"
    assert user == f"typehash={dds_types.type_hash('trajectory_msgs/JointTrajectory')};"
    assert message["joint_names"] == ["theta"]
    points = message["points"]
    np.testing.assert_array_equal([p["positions"][0] for p in points], swing.column("theta"))
    times = [p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"] for p in points]
    np.testing.assert_allclose(times, swing.t, atol=1e-9)


def test_joint_states_of_another_process_are_received(domain: int, tmp_path: Path) -> None:
    figure = bunraku.library.named("cart_pendulum")
    other = Other("send", "joint_states", domain, 8, tmp_path, f"typehash={JOINT_STATE};")
    with pytest.warns(bunraku.errors.BunrakuWarning, match="spare|x"):
        motion = receive_states(figure, seconds=PATIENCE, samples=8, patience=PATIENCE)
    other.result()
    np.testing.assert_allclose(motion.column("theta"), 0.1 * np.arange(8), atol=1e-15)
    np.testing.assert_allclose(motion.t, 1e-6 * np.arange(8), atol=1e-12)


def test_another_version_of_the_type_is_refused(domain: int, tmp_path: Path) -> None:
    other = Other("send", "joint_states", domain, 1, tmp_path, f"typehash=RIHS01_{'0' * 64};")
    with pytest.raises(BunrakuError, match="another version"):
        receive_states(bunraku.library.named("cart_pendulum"), seconds=1.0, patience=PATIENCE)
    other.process.kill()
    other.process.communicate()


def test_clear_errors(domain: int, swing: bunraku.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="theta"):
        publish_states(swing, joints=["thetta"])
    with pytest.raises(BunrakuError, match="nobody listens on /none"):
        publish_trajectory(swing, "/none", patience=0.05)
    with pytest.raises(BunrakuError, match="no joint states came"):
        receive_states(topic="/none", seconds=0.1, patience=0.05)
    with pytest.raises(BunrakuError, match="not the name of a topic"):
        publish_states(swing, "a b")
    with pytest.raises(BunrakuError, match="not a domain"):
        publish_states(swing, domain=1000)
    monkeypatch.setenv("ROS_DOMAIN_ID", "seven")
    with pytest.raises(BunrakuError, match="not a domain: 'seven'"):
        publish_states(swing)


def test_without_cyclonedds(swing: bunraku.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cyclonedds", "cyclonedds.qos"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"bunraku\[ros2\]"):
        publish_states(swing)


def test_the_command_publishes(domain: int, swing: bunraku.Motion, tmp_path: Path) -> None:
    bunraku.save(swing, tmp_path / "swing.npz")
    other = Other("receive", "joint_states", domain, len(swing), tmp_path)
    options = ["--joint", "theta", "--wait", str(PATIENCE), "--domain", str(domain)]
    done = CliRunner().invoke(app, ["publish", str(tmp_path / "swing.npz"), *options])
    assert done.exit_code == 0, done.output
    assert "published 0.08 s on /joint_states" in done.output
    _, messages = other.result()
    assert [m["position"] for m in messages] == swing.column("theta")[:, None].tolist()
    refused = CliRunner().invoke(app, ["publish", "pendulum"])
    assert refused.exit_code == 1
    assert "is no motion" in refused.output
