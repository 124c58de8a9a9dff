"""The verbs: for each a folder with its order (file.py), what Python and the command line share (run.py), and plots (plot.py)."""
