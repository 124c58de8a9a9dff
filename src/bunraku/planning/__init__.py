"""Plans: ways and motions from a start to a goal."""
