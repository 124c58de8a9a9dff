"""The verb climb."""
