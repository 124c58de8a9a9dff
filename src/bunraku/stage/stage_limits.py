"""Limits on what visitors may send to a stage, and on what it keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StageLimits:
    """Limits of one stage. A request that exceeds them is refused, or the oldest item is dropped."""

    visitors: int = 32
    """Maximum number of connected pages."""
    entries: int = 200
    """Maximum number of entries of the list, including takes and dropped files."""
    message_bytes: int = 8192
    """Maximum size of one message from a page."""
    message_rate: float = 240.0
    """Maximum rate of messages of one page [1/s]."""
    message_burst: float = 480.0
    """Maximum number of messages of one page that may come at once."""
    upload_bytes: int = 32 * 2**20
    """Maximum size of one upload."""
    mesh_bytes: int = 64 * 2**20
    """Maximum size of a mesh file."""
    take_seconds: float = 300.0
    """Maximum duration of a recording, after which it stops [s]."""
    title_letters: int = 80
    """Maximum length of the title of a take."""
    take_layers: int = 32
    """Maximum number of layers of a take."""
    take_keys: int = 20_000
    """Maximum number of keys of a take, in all of its layers."""
    waiting_commands: int = 1000
    """Maximum number of commands queued for one tick of a live figure; beyond that the oldest are dropped."""
    log_commands: int = 500_000
    """Maximum number of commands of an input log: two hours of continuous dragging."""
    silent_seconds: float = 5.0
    """How long a driver may do nothing before control passes to a visitor who has asked for it [s]."""
    samples_in_flight: int = 8
    """Maximum number of samples sent to a page but not drawn yet; beyond that it gets only the newest."""
    slowest: float = 0.1
    """Lowest speed of a live entry, as a multiple of real time."""
    fastest: float = 4.0
    """Highest speed of a live entry, as a multiple of real time."""
