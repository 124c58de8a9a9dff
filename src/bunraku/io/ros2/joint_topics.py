"""Joint states and trajectories over DDS, as nodes of ROS 2 send and receive them.

Topics, types and qualities of service are those of ROS 2 (`rt/joint_states`, `sensor_msgs::msg::dds_::JointState_`, reliable, not
kept), and each publisher tells the hash of its type as ROS 2 does, so that `ros2 topic echo` and controllers take the messages. No
ROS is needed here. The domain is that of ROS_DOMAIN_ID.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from typing import Any

from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import Figure
from bunraku.io.logs import ros_messages as ros
from bunraku.io.logs.joint_states import joint_state, motion_of_states
from bunraku.io.ros2.dds_types import dds_type, filled, module, type_hash
from bunraku.motion import Motion


def publish_states(
    motion: Motion, topic: str = "/joint_states", *, joints: Sequence[str] | None = None, speed: float = 1.0,
    patience: float = 0.0, domain: int | None = None,
) -> None:  # fmt: skip
    """Publishes a `motion` of one figure as joint states, in real time; Ctrl-C ends it.

    topic: its name
    joints: names of the variables that are published; by default all
    speed: as a multiple of real time
    patience: how long to wait for a subscriber before the first message [s]
    domain: of DDS; by default that of ROS_DOMAIN_ID, or 0

    Raises BunrakuError if nobody has subscribed after `patience`, UnknownName for unknown joints, MissingExtra without cyclonedds.
    """
    names, columns = _chosen(motion, joints)
    with _Writer("sensor_msgs/JointState", topic, domain) as writer:
        if patience > 0.0:
            writer.await_reader(patience)
        start, begin = time.time_ns(), time.perf_counter()
        for k, t in enumerate((motion.t - motion.t[0]) / speed):
            _sleep_until(begin + t)
            speeds = [] if motion.v is None else (speed * motion.v[k, columns]).tolist()
            stamp = start + round(t * 1e9)
            writer.write(joint_state(stamp, names, position=motion.q[k, columns].tolist(), velocity=speeds))
        writer.received(max(patience, 1.0))


def publish_trajectory(
    motion: Motion, topic: str, *, joints: Sequence[str] | None = None, patience: float = 10.0, domain: int | None = None
) -> None:
    """Sends a `motion` of one figure to a controller as one message, a joint trajectory that begins at once.

    topic: as in "/joint_trajectory_controller/joint_trajectory"
    joints: names of the variables that are sent; by default all
    patience: how long to wait for the controller, and for it to have received the message [s]
    domain: of DDS; by default that of ROS_DOMAIN_ID, or 0

    Raises BunrakuError if nobody listens there, UnknownName for unknown joints, MissingExtra without cyclonedds.
    """
    names, columns = _chosen(motion, joints)
    points = [
        {
            "positions": motion.q[k, columns].tolist(), "velocities": [] if motion.v is None else motion.v[k, columns].tolist(),
            "accelerations": [], "effort": [], "time_from_start": ros.stamp(round(float(t - motion.t[0]) * 1e9)),
        }
        for k, t in enumerate(motion.t)
    ]  # fmt: skip
    head = {"stamp": ros.stamp(0), "frame_id": ""}  # zero: at once
    with _Writer("trajectory_msgs/JointTrajectory", topic, domain) as writer:
        writer.await_reader(patience)
        writer.write({"header": head, "joint_names": list(names), "points": points})
        if not writer.received(patience):
            raise BunrakuError(f"the message on {topic} was not received\n  advice: is the network in order?")


def receive_states(
    figure: Figure | None = None, topic: str = "/joint_states", *, seconds: float, samples: int | None = None,
    patience: float = 10.0, domain: int | None = None,
) -> Motion:  # fmt: skip
    """The motion of a `figure` in the joint states that arrive; by default of the figure of the library with these joints.

    topic: where to listen
    seconds: how long, from the first message on [s]; Ctrl-C ends it earlier
    samples: ends after so many messages, too
    patience: how long to wait for the first message [s]
    domain: of DDS; by default that of ROS_DOMAIN_ID, or 0

    Times are those of the messages, from zero on. Joints are found by name, as in logs. Raises BunrakuError if nothing arrives, or
    if the publisher has another version of the type; FileError if no joint fits; MissingExtra without cyclonedds.
    """
    states: list[tuple[int, Any]] = []
    participant, topic_, qos = _joined("sensor_msgs/JointState", topic, domain)
    reader = module("sub").DataReader(participant, topic_, qos)
    end = time.monotonic() + patience
    try:
        while time.monotonic() < end and (samples is None or len(states) < samples):
            taken = [message for message in reader.take(N=1000) if hasattr(message, "position")]
            if taken and not states:
                _check_hashes(reader, topic)
                end = time.monotonic() + seconds
            states += [(_nanoseconds(message.header.stamp), message) for message in taken]
            time.sleep(0.002)
    except KeyboardInterrupt:
        pass
    if not states:
        raise BunrakuError(f"no joint states came on {topic} for {patience:g} s\n  advice: is it published, in the same domain?")
    first = states[0][0]
    return motion_of_states([(stamp - first, message) for stamp, message in states], figure, source=topic)


# -- DDS -----------------------------------------------------------------------------------------------------------


class _Writer:
    """A publisher of a type on a topic."""

    def __init__(self, kind: str, topic: str, domain: int | None) -> None:
        self.kind, self.topic = kind, topic
        self._participant, topic_, qos = _joined(kind, topic, domain)
        self._writer = module("pub").DataWriter(self._participant, topic_, qos)

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *problem: object) -> None:
        del self._writer, self._participant

    def await_reader(self, patience: float) -> None:
        end = time.monotonic() + patience
        while not self._writer.get_matched_subscriptions():
            if time.monotonic() > end:
                advice = "start it first; both must be in the same domain (ROS_DOMAIN_ID)"
                raise BunrakuError(f"nobody listens on {self.topic} for {self.kind}\n  advice: {advice}")
            time.sleep(0.01)

    def write(self, values: dict[str, Any]) -> None:
        self._writer.write(filled(self.kind, values))

    def received(self, patience: float) -> bool:
        """Whether all that was written has been received; waits for that as long as `patience` [s]."""
        return bool(self._writer.wait_for_acks(module("util").duration(seconds=patience)))


def _joined(kind: str, topic: str, domain: int | None) -> tuple[Any, Any, Any]:
    """A participant, the topic, and the quality of service of ROS 2: reliable, the last ten messages, not kept for latecomers."""
    if not re.fullmatch(r"/?([A-Za-z_]\w*/)*[A-Za-z_]\w*", topic, re.ASCII):
        raise BunrakuError(f"not the name of a topic: {topic!r}\n  advice: words between slashes, as in /arm/joint_states")
    chosen = os.environ.get("ROS_DOMAIN_ID") or "0" if domain is None else str(domain)
    if not re.fullmatch(r"\d{1,3}", chosen) or int(chosen) > 232:
        raise BunrakuError(f"not a domain: {chosen!r}\n  advice: a number from 0 to 232, as in ROS_DOMAIN_ID")
    qos = module("qos")
    participant = module("domain").DomainParticipant(int(chosen))
    quality = qos.Qos(
        qos.Policy.Reliability.Reliable(module("util").duration(seconds=10)), qos.Policy.Durability.Volatile,
        qos.Policy.History.KeepLast(10), qos.Policy.DataRepresentation(use_cdrv0_representation=True),
        qos.Policy.Userdata(f"typehash={type_hash(kind)};".encode()),
    )  # fmt: skip
    return participant, module("topic").Topic(participant, f"rt/{topic.lstrip('/')}", dds_type(kind)), quality


def _check_hashes(reader: Any, topic: str) -> None:
    """Refuses publishers that tell another hash; those of older releases of ROS 2 tell none."""
    for handle in reader.get_matched_publications():
        data = reader.get_matched_publication_data(handle)
        policy = module("qos").Policy.Userdata
        told = bytes(data.qos[policy].data).decode(errors="replace") if data is not None and policy in data.qos else ""
        found = re.search(r"typehash=(\w+);", told)
        if found and found[1] != type_hash("sensor_msgs/JointState"):
            raise BunrakuError(f"{topic} has another version of sensor_msgs/JointState: {found[1]}\n  advice: convert it in ROS")


# -- values --------------------------------------------------------------------------------------------------------


def _chosen(motion: Motion, joints: Sequence[str] | None) -> tuple[Sequence[str], list[int]]:
    """The names of the variables to send, and their columns."""
    figure = motion.figure
    for name in joints or ():
        if name not in figure.names:
            raise UnknownName("variable", name, figure.names)
    names = figure.names if joints is None else joints
    return names, [figure.index(name) for name in names]


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


def _sleep_until(moment: float) -> None:
    left = moment - time.perf_counter()
    if left > 0.0:
        time.sleep(left)
