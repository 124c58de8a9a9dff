"""BVH: captured skeletons and their motions, in and out."""
