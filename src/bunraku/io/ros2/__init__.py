"""ROS 2 without ROS: joint states and trajectories over DDS, in the types of ROS 2 (needs cyclonedds)."""

from __future__ import annotations

from bunraku.io.ros2.joint_topics import publish_states, publish_trajectory, receive_states

__all__ = ["publish_states", "publish_trajectory", "receive_states"]
