"""Bodies that meet: steps in which shapes of a figure, its props and the scene touch, rub, bounce, roll and stick."""
