"""Figure: an articulated thing, frozen."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import UnknownName
from bunraku.figure.contact import Closure, Contact
from bunraku.figure.force import Force, Spring
from bunraku.figure.frame import Frame, Joint, Variable, Vector
from bunraku.figure.mass import Body
from bunraku.figure.shape import Shape
from bunraku.figure.string import String, Wire
from bunraku.figure.validate import check
from bunraku.shown import Shown

if TYPE_CHECKING:
    from bunraku.figure.compiled import Compiled

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Figure(Shown):
    """A tree of frames with bodies, strings, springs, force inputs, contacts, closures and shapes.

    The configuration `q` holds all variables: the dynamic ones first, then the kinematic ones, each in the order
    of the frames; the lengths of strings come last.
    """

    name: str
    frames: tuple[Frame, ...]
    bodies: tuple[Body, ...] = ()
    strings: tuple[String, ...] = ()
    wires: tuple[Wire, ...] = ()
    lengths: tuple[Variable, ...] = ()
    """Kinematic variables that are the free length of a string and move no frame."""
    springs: tuple[Spring, ...] = ()
    forces: tuple[Force, ...] = ()
    contacts: tuple[Contact, ...] = ()
    closures: tuple[Closure, ...] = ()
    shapes: tuple[Shape, ...] = ()
    groups: tuple[Joint, ...] = ()
    """Ball and free joints; every other variable is a joint of its own."""
    allowed: tuple[tuple[str, str], ...] = ()
    """Pairs of frames whose shapes may touch, besides neighbours."""
    gravity: Vector = (0.0, 0.0, -9.81)

    def __post_init__(self) -> None:
        check(self)

    # -- variables -----------------------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, in the order of q."""
        tree = [frame.variable for frame in self.frames if frame.variable is not None]
        return (*(v for v in tree if not v.kinematic), *(v for v in tree if v.kinematic), *self.lengths)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables in the order of q."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def dynamic(self) -> tuple[str, ...]:
        """Names of the variables that physics moves."""
        return tuple(v.name for v in self.variables if not v.kinematic)

    @cached_property
    def kinematic(self) -> tuple[str, ...]:
        """Names of the variables that the puppeteer sets."""
        return tuple(v.name for v in self.variables if v.kinematic)

    @cached_property
    def n_q(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @cached_property
    def n_dynamic(self) -> int:
        """Number of dynamic variables."""
        return len(self.dynamic)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def index(self, variable: str) -> int:
        """Index of a `variable` in q; raises UnknownName where there is none of this name."""
        try:
            return self._index[variable]
        except KeyError:
            raise UnknownName("variable", variable, self.names) from None

    def indices(self, variables: Iterable[str]) -> NDArray[np.int64]:
        """Indices of `variables` in q; raises UnknownName where there is none of a name."""
        return np.array([self.index(name) for name in variables], np.int64)

    @cached_property
    def start(self) -> Array:
        """The configuration at the start (read-only)."""
        q = np.array([v.start for v in self.variables])
        q.setflags(write=False)
        return q

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits in the order of q [rad or m]; infinite where there is none."""
        return np.array([v.lower for v in self.variables]), np.array([v.upper for v in self.variables])

    def configuration(self, base: Sequence[float] | Array | None = None, /, **values: float) -> Array:
        """A configuration by names: `figure.configuration(elbow=1.2)`.

        base: the configuration that holds the other variables; without one, the start.
        values: numbers by the names of variables [rad or m].
        Returns a new array; raises UnknownName where there is no variable of a name.
        """
        q = np.array(self.start if base is None else base, float)
        for name, value in values.items():
            q[self.index(name)] = value
        return q

    # -- frames --------------------------------------------------------------------------------------------------

    @cached_property
    def _frame(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self.frames}

    def frame(self, name: str) -> Frame:
        """The frame called `name`; raises UnknownName where there is none."""
        try:
            return self._frame[name]
        except KeyError:
            raise UnknownName("frame", name, tuple(self._frame)) from None

    @cached_property
    def frame_index(self) -> dict[str, int]:
        """Index of each frame in `frames`, by name."""
        return {frame.name: k for k, frame in enumerate(self.frames)}

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """Ball and free joints, and every other variable of the tree as a joint of its own, in tree order."""
        group = {frame: joint for joint in self.groups for frame in joint.frames}
        kinds = {"rotate": "hinge", "translate": "slide", "screw": "screw"}
        out: list[Joint] = []
        for frame in self.frames:
            if frame.name in group:
                if group[frame.name] not in out:
                    out.append(group[frame.name])
            elif frame.variable is not None:
                out.append(Joint(frame.name, kinds[frame.variable.motion], (frame.name,)))  # type: ignore[arg-type]
        return tuple(out)

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return math.fsum(body.mass for body in self.bodies)

    # -- other forms ---------------------------------------------------------------------------------------------

    @cached_property
    def compiled(self) -> Compiled:
        """The flat arrays that kernels use."""
        from bunraku.figure.compiled import compile_figure

        return compile_figure(self)

    def replace(self, **changes: Any) -> Figure:
        """A copy with some fields changed, checked again; `changes` are fields and their new values."""
        return replace(self, **changes)

    def play(self, **options: Any) -> Any:
        """Simulates this figure while the mouse pulls its strings: in a cell of a notebook, or else on the stage, until Ctrl-C.

        options: of `bunraku.notebook.play_figure`: `scene`, `dt`, `touch`, `height`; outside notebooks also those of
            `bunraku.stage.serving.play`.
        Returns what a notebook displays; None outside.
        """
        return importlib.import_module("bunraku.notebook.figure_player").play_figure(self, **options)  # a layer above this one

    def __repr__(self) -> str:
        parts = [f"{self.n_dynamic} dynamic + {self.n_q - self.n_dynamic} kinematic variables", f"{len(self.bodies)} bodies"]
        parts += [f"{len(group)} {word}" for word, group in (("strings", self.strings), ("contacts", self.contacts)) if group]
        return f"<Figure {self.name}: {', '.join(parts)}, {self.mass:.3g} kg>"
