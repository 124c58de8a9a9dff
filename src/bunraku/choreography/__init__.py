"""Choreography: modes in time, and the times that suit them best."""
