"""The verb plan: motion planning for figures on strings, from a start at rest into a goal, among obstacles."""
