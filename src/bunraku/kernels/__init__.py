"""Compiled code: four decorators, a cache on disk that is never stale, vector blocks."""
