"""The verb carry."""
