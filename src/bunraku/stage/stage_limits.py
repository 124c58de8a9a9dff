"""How much a stage takes from its visitors, and keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StageLimits:
    """Limits of one stage. Beyond them a request is refused, or the oldest gives way."""

    visitors: int = 32
    """Pages that may be connected."""
    entries: int = 200
    """Lines of the list, takes and dropped files included."""
    message_bytes: int = 8192
    """Size of one message from a page."""
    message_rate: float = 240.0
    """Messages of one page [1/s]."""
    message_burst: float = 480.0
    """Messages of one page that may come at once."""
    upload_bytes: int = 32 * 2**20
    """Size of one upload."""
    mesh_bytes: int = 64 * 2**20
    """Size of a mesh file."""
    take_seconds: float = 300.0
    """Length of a recording, after which it stops by itself [s]."""
    waiting_commands: int = 1000
    """Commands that may wait for one tick of a live figure; beyond that the oldest are dropped."""
    log_commands: int = 500_000
    """Commands of an input log: two hours of dragging without a pause."""
    samples_in_flight: int = 8
    """Samples sent to a page that has not drawn them yet; beyond that it gets only the newest."""
    slowest: float = 0.1
    """Least speed of a live entry, as a multiple of real time."""
    fastest: float = 4.0
    """Largest speed of a live entry, as a multiple of real time."""
