"""Pictures and films without a browser or a graphics card, and plots of motions over time."""
