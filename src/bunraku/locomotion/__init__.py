"""Figures that go somewhere on their own feet."""
