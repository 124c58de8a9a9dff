"""The verb perform."""
