"""Several agents and an object."""
