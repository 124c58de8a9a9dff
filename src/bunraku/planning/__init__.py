"""Plans: motions of string figures (`strings`) and paths of kinematic figures (`ways`), from a start to a goal among obstacles."""
