"""USD: motions for Blender, Omniverse, Houdini and Maya."""
