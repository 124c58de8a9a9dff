"""glTF: motions for Blender, three.js and most viewers."""
