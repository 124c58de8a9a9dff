"""Numbers that tune the synergetic rules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RuleOptions:
    """Numbers that tune the rules."""

    stand_on: float = 0.28
    """Largest distance of the centre of mass from the middle of the feet, as a share of the longest step; beyond it, legs stretch
    and the body moves up and down."""
    stride: float = 0.36
    """Largest motion of the trunk in one segment, as a share of the longest step."""
    brisk: bool = False
    """Whether steps follow each other without rest between them, where commands may interrupt moves: faster, but less room for
    disturbances that the plan does not know."""
    onward_stride: float = 0.5
    """The same if the step begins or ends in motion."""
    onward_soles: float = 1.7
    """Largest motion of the trunk in such a step, in lengths of the stand-on region of one foot: short soles leave the ZMP little
    room."""
    onward_swings: float = 3.0
    """Largest speed of a swinging foot in such a step, in multiples of that in a step from rest to rest."""
    onward_apart: float = 1.0
    """How far apart the feet are while they walk straight on, between the least distance (0), that at home (1), and farther."""
    onward_stretch: float = 0.95
    """As `stretch`, for steps in motion: nearly straight knees would have to move too fast."""
    sway: float = 0.0
    """How far the trunk leans over the standing foot in a step in motion [rad]."""
    ahead: float = 0.35
    """How far ahead of the middle of the feet the body is when a foot lifts off in motion, as a share of the step."""
    sideways: float = 0.3
    """Largest lean of the trunk sideways, as a share of that forward; hips and knees tolerate it badly."""
    back: float = 0.1
    """Largest lean of the trunk backward, as a share of that forward."""
    lowest: float = 0.86
    """Lowest height of the centre of mass, as a share of that in the home configuration, so that legs reach."""
    reached: float = 0.35
    """Largest motion of a hand in one segment, as a share of its reach."""
    turned: float = 0.5
    """Largest turn of a hand in one segment [rad]."""
    stretch: float = 0.975
    """Length of a leg, as a share of that of a straight one, beyond which the centre of mass is lowered."""
    tries: int = 8
    """Number of positions tried on the way to a goal."""
