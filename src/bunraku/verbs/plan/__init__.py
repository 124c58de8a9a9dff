"""The verb plan: from a start at rest into a goal, among obstacles, for figures on strings."""
