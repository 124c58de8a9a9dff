"""Where everything is, and how it moves with q."""

from bunraku.kinematics.forward import Pose, frames_along, pose

__all__ = ["Pose", "frames_along", "pose"]
