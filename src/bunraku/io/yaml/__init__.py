"""YAML: figures, scenes and orders as people write them, with errors that point at the line."""
