"""The verb optimize."""
