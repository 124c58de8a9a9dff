"""Environments of gymnasium; this module needs it, and is imported when the first is made."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from bunraku.gym.puppet_tasks import LiftHand, PuppetTask, WalkPuppet
from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.render.image import image

Array = NDArray[np.float64]
Base: Any = gymnasium.Env
VectorBase: Any = gymnasium.vector.VectorEnv


def made(task: str, render_mode: str | None) -> Any:
    """The environment of a `task`; `render_mode` is None or "rgb_array"."""
    if task == "GuideHumanoid":
        return GuideEnv(render_mode)
    return PuppetEnv(_task(task), render_mode)


@cache
def _task(name: str) -> PuppetTask:
    """Tasks are constant, so all environments share them."""
    return {"LiftHand": LiftHand, "WalkPuppet": WalkPuppet}[name]()


class PuppetEnv(Base):  # type: ignore[misc]
    """One puppet on its strings."""

    def __init__(self, task: PuppetTask, render_mode: str | None = None) -> None:
        """The environment of a `task`; `render_mode` is None or "rgb_array"."""
        rate = round(1.0 / (task.options.dt * task.options.substeps))
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": rate}
        self.task, self.render_mode = task, render_mode
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (len(task.inputs),), np.float32)
        seen = task.seen(task.rest, np.zeros(task.figure.n_q), task.goal(np.random.default_rng(0)), 0.0)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, seen.shape, np.float64)
        self._count = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Array, dict[str, Any]]:
        """Starts anew, with another goal; `seed` chooses it, `options` are ignored. Returns what is seen, and nothing else."""
        super().reset(seed=seed)
        self._simulation, self._count = self.task.prepared.copy(), 0
        self.goal = self.task.goal(self.np_random)
        return self.task.seen(self.task.rest, np.zeros(self.task.figure.n_q), self.goal, 0.0), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Moves for one `action`. Returns what is seen, the reward, False, whether the time is over, and the tensions [N]."""
        task = self.task
        before = self._simulation.q
        steps = self._simulation.run(task.moved(before, np.asarray(action, float)), energy=False)
        q, last = steps.q[-1], steps.q[-2] if len(steps.q) > 1 else before
        v = (q - last) / task.options.dt
        self._count += 1
        time = self._count * task.options.dt * task.options.substeps
        seen = task.seen(q, v, self.goal, time)
        over = self._count >= task.options.steps
        return seen, task.reward(seen, q, v, self.goal, time), False, over, {"tension": self._simulation.tension}

    def render(self) -> Any:
        """A picture (height, width, 3) of the puppet now, if the mode is "rgb_array"."""
        if self.render_mode != "rgb_array":
            return None
        figure = self.task.figure
        return np.asarray(image(figure, pose(figure, self._simulation.q).frames, size=(480, 480)))


class GuideEnv(Base):  # type: ignore[misc]
    """A humanoid that is guided to a goal. An action (forward, left, turn) is a command; a step is the whole move that obeys it.

    What is seen is the goal in the axes of the trunk [m], its distance [m], and its direction [rad]. The reward is the progress
    toward the goal [m]; within 0.2 m of it, the task is done.
    """

    def __init__(self, render_mode: str | None = None, most: int = 40) -> None:
        """The environment, with `most` moves until the time is over; `render_mode` is None or "rgb_array"."""
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 2}
        self.render_mode, self.most = render_mode, most
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float64)
        self._count = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Array, dict[str, Any]]:
        """Stands at the origin, with a goal 0.5 to 1.5 m away, chosen by `seed`; `options` are ignored."""
        super().reset(seed=seed)
        self._session, self._count = Session(Performer(Guide(small_humanoid())), keep=False), 0
        angle, far = self.np_random.uniform(-math.pi, math.pi), self.np_random.uniform(0.5, 1.5)
        self.goal = far * np.array([math.cos(angle), math.sin(angle)])
        return self._seen(), {}

    def _seen(self) -> Array:
        points = self._session.points
        yaw = float(points.trunk[2])
        x, y = self.goal - points.feet[:, :2].mean(0)
        ahead, left = math.cos(yaw) * x + math.sin(yaw) * y, -math.sin(yaw) * x + math.cos(yaw) * y
        return np.array([ahead, left, math.hypot(x, y), math.atan2(left, ahead)])

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Obeys the command `action`. Returns what is seen, the reward [m], whether it has arrived, whether the time is over, and
        what the planner said."""
        ahead, left, turn = np.clip(np.asarray(action, float), -1.0, 1.0).tolist()
        before = self._seen()[2]
        done = self._session.obey(Command("trunk", move=(ahead, left, 0.0), turn=(0.0, 0.0, turn)))
        seen = self._seen()
        self._count += 1
        return seen, float(before - seen[2]), bool(seen[2] < 0.2), self._count >= self.most, {"notice": done.notice}

    def render(self) -> Any:
        """A picture (height, width, 3) of the humanoid now, if the mode is "rgb_array"."""
        if self.render_mode != "rgb_array":
            return None
        figure = self._session.performer.guide.humanoid.figure
        return np.asarray(image(figure, pose(figure, self._session.before[-1]).frames, size=(480, 480)))


class ThreadedVector(VectorBase):  # type: ignore[misc]
    """Environments that are stepped together, by threads. One that has ended is reset by the next step, which gives no reward."""

    def __init__(self, environments: list[Any], threads: int) -> None:
        """The `environments`, stepped by so many `threads`."""
        first = environments[0]
        self.metadata = first.metadata | {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        self.envs, self.num_envs, self.render_mode = environments, len(environments), None
        self.single_action_space, self.single_observation_space = first.action_space, first.observation_space
        self.action_space = gymnasium.vector.utils.batch_space(first.action_space, self.num_envs)
        self.observation_space = gymnasium.vector.utils.batch_space(first.observation_space, self.num_envs)
        self._pool = ThreadPoolExecutor(threads)
        self._shares = [range(k, self.num_envs, threads) for k in range(min(threads, self.num_envs))]
        self._ended = np.zeros(self.num_envs, bool)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Array, dict[str, Any]]:
        """Starts all anew. With a `seed`, environment k gets seed + k, or the k-th of several; `options` are ignored."""
        seeds = [None] * self.num_envs if seed is None else seed
        if isinstance(seed, int):
            seeds = [seed + k for k in range(self.num_envs)]
        self._ended[:] = False
        self._action = np.zeros((self.num_envs, *self.single_action_space.shape))
        return np.stack([env.reset(seed=own)[0] for env, own in zip(self.envs, seeds, strict=True)]), {}

    def step(self, actions: Any) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Steps all, with a row of `actions` each. Returns what they see, rewards, and which have ended or run out of time."""
        count = self.num_envs
        seen = np.empty((count, *self.single_observation_space.shape))
        rewards, ended, over = np.zeros(count), np.zeros(count, bool), np.zeros(count, bool)

        def work(share: range) -> None:
            for k in share:
                if self._ended[k]:
                    seen[k], _ = self.envs[k].reset()
                else:
                    seen[k], rewards[k], ended[k], over[k], _ = self.envs[k].step(actions[k])

        list(self._pool.map(work, self._shares))
        self._ended = ended | over
        return seen, rewards, ended, over, {}

    def close_extras(self, **_: Any) -> None:
        """Ends the threads."""
        self._pool.shutdown()
