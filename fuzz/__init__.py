"""Coverage-guided fuzzing of every loader and of the page's messages: `make fuzz`."""
