"""Sound: recordings, their files, and the beats in them."""
