"""SDF, the description format of Gazebo, in."""
