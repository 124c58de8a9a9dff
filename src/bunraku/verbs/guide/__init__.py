"""The verb guide."""
