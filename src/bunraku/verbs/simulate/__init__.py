"""The verb simulate."""
