"""Planning from a start to a goal among obstacles: motions of string figures (`strings`), paths of kinematic figures (`ways`)."""
