"""Logs of robotics: MCAP, which ROS 2 and Foxglove read, and Rerun."""
