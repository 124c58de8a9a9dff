"""The verb plan."""
