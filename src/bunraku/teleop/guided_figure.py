"""A humanoid guided live: one point follows the stick or the mouse, and synergetic rules move the rest of the body."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.figure import WORLD
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command as Command_
from bunraku.locomotion.guide.guide_command import GuidedPoint
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.loop_times import LoopTimes
from bunraku.locomotion.guide.navigation_points import heading
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.plan_requests import PlanBeside
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.session import Session, Tick
from bunraku.stage import Command, Device, Planned, Pull, Release, Sample, Sticks
from bunraku.teleop.devices import PAPER_JOYSTICK, Pilot, Reading
from bunraku.teleop.joystick import Joystick
from bunraku.teleop.markers import marked, markers
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_loop import Robot, RobotLoop, standing_points
from bunraku.workers import Pool

Array = NDArray[np.float64]


@cache
def _planners() -> Pool:
    """The process in which moves are planned for all figures that are guided live."""
    return Pool(1, lasting=True)


class GuidedLive:
    """A Live figure: sticks guide one point, and the fifth stick switches it; or the mouse drags a foot, a hand or the trunk."""

    pulls = frozenset(("body",))
    sticks = (
        "side to side", "forward and back", "turn", "up and down, lift the foot", "switch what is guided", "lean, tilt the hand",
        "lean sideways, roll the hand",
    )  # fmt: skip
    series = (("ZMP inside the polygon", "mm"), ("height of the centre of mass", "m"), ("speed of the centre of mass", "m/s"))

    def __init__(
        self, guide: Guide, *, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, joystick: Joystick | None = None,
        beside: bool = False,
    ) -> None:  # fmt: skip
        """Starts at (`x`, `y`) [m] with `yaw` [rad] and moves with `guide`. Commands of a `joystick` override those of the page.

        beside: whether moves are planned in another process, so that no step waits for a plan. Whoever runs it must then call
        `heard` before each step, and `apply` what it returns.
        """
        self._performer = Performer(guide)
        self._start = guide.start(x=x, y=y, yaw=yaw)
        self._markers = markers(guide.humanoid)
        self.scene, self.dt = guide.scene, GUIDE_TICK
        self.figures = (guide.humanoid.figure, self._markers)
        self._keep, self._joystick, self._beside = False, joystick, beside
        self._planning: PlanBeside | None = None
        self.reset()

    @property
    def guided(self) -> GuidedPoint:
        """The point that follows the operator."""
        return self._pilot.guided

    @property
    def _guided_now(self) -> GuidedPoint:
        """What the command in force guides: the joystick's, or that of the page and the mouse."""
        return self._pilot.guided if self._wanted is self._command else self._held.guided

    def keep(self) -> None:
        """Records all moves from the next reset on, for pictures."""
        self._keep = True

    @property
    def performances(self) -> list[GuidedMove]:
        """The moves since the last reset, if they are recorded."""
        return self._session.performances

    @property
    def times(self) -> LoopTimes:
        """How long the steps since the last reset took, and how soon commands acted."""
        return self._session.times

    def reset(self) -> Sample:
        """Back to the start, with nothing held."""
        self._session = Session(self._performer, self._start, keep=self._keep, prompt=True)
        self._pilot = Pilot(up_lifts=True)
        self._held, self._heard = Pilot(PAPER_JOYSTICK), Device(())
        self._command = Command_()
        self._device: Command_ | None = None
        self._drag: Pull | None = None
        self._notices: list[str] = []
        self._told = ""
        return self._sample(self._session.tick(), 0.0)

    def apply(self, command: Command) -> None:
        """Executes a `command`; commands that do not apply to a humanoid are ignored."""
        match command:
            case Sticks(axes, buttons) if len(axes) in (6, 7):  # older input logs have no axis for roll
                self._command = self._obeyed(self._pilot, Reading(axes, buttons))
            case Device(axes, buttons, hats):
                if axes:
                    self._device = self._obeyed(self._held, Reading(axes, buttons, hats))
                else:
                    self._device = None
                    self._notices.append("the joystick was unplugged: the figure stands still, and the page can drive it")
            case Pull(figure=0, part="body", name=name) if name in self._limbs:
                self._guide(self._limbs[name])
                self._drag = command
            case Release():
                self._drag, self._command = None, Command_()
            case Planned(0):
                self._plan_beside()
            case Planned(number) if self._planning is self._session.planning:
                self._planning.tell(number)

    def _plan_beside(self) -> None:
        if self._planning is None:
            self._planning = PlanBeside(self._performer, _planners() if self._beside else None)
        self._planning.reset()
        self._session.planning = self._planning

    def obey(self, command: Command_) -> None:
        """Guides a point with a `command`, as if it came from sticks, until the next one."""
        self._pilot.guided, self._drag, self._command = command.guided, None, command

    @property
    def fell(self) -> bool:
        """Whether it fell since the last reset; without physics it cannot."""
        return False

    def heard(self) -> tuple[Command, ...]:
        """The state of the joystick, if it has changed; and whether a plan is ready."""
        if self._joystick is None:
            return self._ready()
        reading = self._joystick.poll()
        said = Device(()) if reading is None else Device(reading.axes, reading.buttons, reading.hats)
        changed, self._heard = said != self._heard, said
        return (*((said,) if changed else ()), *self._ready())

    @property
    def awaiting(self) -> bool:
        """Whether a plan is being made in another process."""
        return self._planning is not None and self._planning.awaiting

    def _ready(self) -> tuple[Command, ...]:
        if not self._beside:
            return ()
        if self._planning is not self._session.planning:
            return (Planned(0),)
        return (Planned(self._planning.count),) if self._planning.arrived else ()

    def _obeyed(self, pilot: Pilot, reading: Reading) -> Command_:
        before = pilot.guided
        command = pilot.command(reading)
        if pilot.guided != before:
            self._notices.append(f"guiding the {pilot.guided.replace('_', ' ')}")
        return command

    def _guide(self, point: GuidedPoint) -> None:
        if self._pilot.guided != point:
            self._pilot.guided = point
            self._notices.append(f"guiding the {point.replace('_', ' ')}")

    @cached_property
    def _limbs(self) -> dict[str, GuidedPoint]:
        """The guided point for every frame: the foot or hand of its limb, otherwise the trunk."""
        own = self._performer.guide.humanoid
        ends: dict[str, GuidedPoint] = {own.feet[0]: "left_foot", own.feet[1]: "right_foot"}
        ends |= {own.hands[0]: "left_hand", own.hands[1]: "right_hand"}
        out: dict[str, GuidedPoint] = dict.fromkeys((frame.name for frame in own.figure.frames), "trunk")
        above: dict[str, int] = {}
        for end in ends:
            frame = end
            while frame != WORLD:
                above[frame] = above.get(frame, 0) + 1
                frame = own.figure.frame(frame).parent
        for end, point in ends.items():
            frame = end
            while frame != WORLD and above[frame] == 1:
                out[frame] = point
                frame = own.figure.frame(frame).parent
        return out

    def step(self) -> Sample:
        """The next sample."""
        began = perf_counter()
        self._session.command = self._toward(self._drag) if self._drag is not None else self._wanted
        tick, measured = self._advanced()
        if tick.notice and tick.notice != self._told:
            self._notices.append(tick.notice)
        if tick.k == 1:
            self._told = tick.notice
        sample = self._sample(tick, tick.t)
        self.times.timed(perf_counter() - began)
        return sample if measured is None else replace(sample, q=(measured, sample.q[1]))

    def _advanced(self) -> tuple[Tick, Array | None]:
        """Plays one tick; the configuration of a robot, if one is measured."""
        return self._session.tick(), None

    @property
    def _wanted(self) -> Command_:
        """The joystick's command; if it is idle or missing, the page's."""
        held, page = self._device, self._command
        return page if held is None or (held.idle and not any(held.lift) and not page.idle) else held

    def _toward(self, drag: Pull) -> Command_:
        """The command that moves the dragged point toward the mouse."""
        points, own = self._session.points, self._performer.guide.humanoid
        guided = self._limbs[drag.name]
        at = {"left_foot": points.feet[0, :3], "right_foot": points.feet[1, :3], "left_hand": points.hands[0],
              "right_hand": points.hands[1]}.get(guided, points.com.p)  # fmt: skip
        away = np.array(drag.to) - at
        scale = 0.35 * own.limits.reach
        if guided == "trunk":
            away[2], scale = 0.0, 0.36 * own.limits.forward
        elif "foot" in guided:
            scale = 0.6 * own.limits.forward
        x, y, z = (float(v) for v in np.clip(heading(points.yaw).T @ away / scale, -1.0, 1.0))
        lifted = float(np.clip((drag.to[2] - at[2]) / own.limits.lift, 0.0, 1.0)) if "foot" in guided else 0.0
        lift = (lifted, 0.0) if guided == "left_foot" else (0.0, lifted)
        return Command_(guided, (x, y, 0.0 if "foot" in guided else z), lift=lift)

    def _sample(self, tick: Tick, t: float) -> Sample:
        row = tick.performance.move.segment.samples[tick.k]
        margin = tick.performance.move.segment.margin_of(tick.performance.zmp)[tick.k]
        notices, self._notices = tuple(self._notices), []
        series = (1e3 * float(margin), float(row[2]), float(np.linalg.norm(row[3:6])))
        marks = marked(self._markers, tick, self._performer.guide.humanoid, self._guided_now)
        return Sample(t, (tick.q.copy(), marks), (), series, (), notices)


class GuidedInPhysics(GuidedLive):
    """The same in MuJoCo: servos follow the plan, a stabiliser keeps the balance, and the stage shows the measured robot."""

    def reset(self) -> Sample:
        """Back to the start, on its feet."""
        out = super().reset()
        self._loop = RobotLoop(self._session, self._robot(self._session.before[-1]))
        self._fell = False
        return out

    def _robot(self, q: Array) -> Robot:
        """The robot, standing at `q`."""
        return MujocoRobot(self._performer.guide.humanoid, self.scene, q)

    @property
    def fell(self) -> bool:
        """Whether it fell since the last reset."""
        return self._fell

    def _advanced(self) -> tuple[Tick, Array | None]:
        tick, measured = self._loop.tick()
        if not self._fell and self._loop.fallen:
            self._fell = True
            self._notices.append("it fell: go back to the start to set it up again")
        return tick, measured


class GuidedOverLink(GuidedInPhysics):
    """The same with a robot behind a socket (see `robot_server`), which moves in real time. If it no longer answers, that is said,
    and going back to the start connects again."""

    def __init__(self, guide: Guide, address: tuple[str, int], token: str, *, joystick: Joystick | None = None) -> None:
        """Connects to the robot at `address` (host and port) with its `token`, and moves it with `guide`, wherever it stands.

        A `joystick` overrides the page. Raises BunrakuError if no robot answers, refuses, or has other motors than the humanoid.
        """
        self._address, self._token = address, token
        self._link: RobotLink | None = None
        super().__init__(guide, joystick=joystick, beside=True)

    def _robot(self, q: Array) -> Robot:
        assert self._link is not None
        return self._link

    def reset(self) -> Sample:
        """Connects again; the robot stays where it is, and the plan begins there. If nobody answers, that is said."""
        first, self._lost = self._link is None, ""
        self.close()
        try:
            self._link = self._connected()
            self._start = standing_points(self._performer.guide, self._link.q)
        except BunrakuError as problem:
            if first:
                raise
            self._lost = str(problem)
        out = super().reset()
        return replace(out, notices=(*out.notices, self._lost)) if self._lost else out

    def _connected(self) -> RobotLink:
        own = self._performer.guide.humanoid
        link = RobotLink(self._address, self._token, timeout=0.5)
        if link.motors != tuple(own.figure.names[k] for k in self._performer.body.motors):
            link.close()
            raise BunrakuError(
                f"the robot's motors are not those of {own.figure.name}\n  advice: give the humanoid file with which it is served"
            )
        return link

    def close(self) -> None:
        """Leaves the robot, which ends its move and stands."""
        if self._link is not None:
            self._link.close()

    def _advanced(self) -> tuple[Tick, Array | None]:
        assert self._link is not None
        if not self._lost:
            try:
                return super()._advanced()
            except BunrakuError as problem:
                self._lost = str(problem)
                self._notices.append(f"{self._lost}; go back to the start to connect again")
        performance, k = self._session.now
        return Tick(self._session.t, performance.q[k], performance, k), self._link.q
