"""Compiled code (numba): four decorators, a cache on disk that notices every edit, operations on rows of eight."""
