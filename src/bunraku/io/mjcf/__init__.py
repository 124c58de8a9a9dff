"""MJCF, the format of MuJoCo, in and out."""
