"""Contact manifolds: which features of two convex bodies may meet in a step, as rows for the equations of motion."""
