"""Inverse kinematics: tasks with priorities, the solver, arms in closed form, drags."""
