"""The verbs, a folder each: the order in a file (file.py) and, where needed, the Python function (run.py) and plots (plot.py)."""
