"""URDF, the robot description format of ROS, in."""
