from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import bunraku.gym
from bunraku.errors import MissingExtra, UnknownName

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'bunraku[gym]'")

# The checker asks for limits of what is seen; angles, speeds and distances have none.
UNLIMITED = "ignore:.*A Box observation space m(ax|in)imum value is.*:UserWarning"


@pytest.mark.filterwarnings(UNLIMITED)
@pytest.mark.parametrize("task", bunraku.gym.tasks())
def test_the_checker_of_gymnasium_is_content(task: str) -> None:
    from gymnasium.utils.env_checker import check_env

    bunraku.gym.register()
    check_env(gymnasium.make(f"bunraku/{task}-v0", render_mode="rgb_array").unwrapped)


@pytest.mark.filterwarnings(UNLIMITED)
def test_gymnasium_makes_them_by_name() -> None:
    bunraku.gym.register()
    env = gymnasium.make("bunraku/LiftHand-v0")
    seen, _ = env.reset(seed=3)
    assert env.observation_space.contains(seen)
    assert env.unwrapped.task.inputs == ("left_arm_x", "left_arm_y", "left_arm_length")


def test_winding_the_string_lifts_the_hand() -> None:
    env = bunraku.gym.make("LiftHand")
    seen, _ = env.reset(seed=1)
    for _ in range(15):
        seen, reward, ended, over, info = env.step(np.array([0.0, 0.0, -1.0]))
    before = env.goal - (env.task._hanging)
    assert seen[-1] < before[2] - 0.05  # the goal is less far up than at the start
    assert reward == pytest.approx(-np.linalg.norm(seen[-3:]))
    assert not ended
    assert not over
    assert info["tension"].shape == (6,)


def test_time_ends() -> None:
    env = bunraku.gym.make("WalkPuppet")
    env.reset(seed=1)
    done = [env.step(env.action_space.sample())[3] for _ in range(env.task.options.steps)]
    assert done.index(True) == len(done) - 1


def test_a_guided_humanoid_arrives() -> None:
    """The simplest policy: walk toward the goal."""
    env = bunraku.gym.make("GuideHumanoid")
    seen, _ = env.reset(seed=5)
    far, total = seen[2], 0.0
    for _ in range(env.most):
        seen, reward, ended, over, _ = env.step(np.clip(2.0 * np.array([seen[0], seen[1], 0.0]), -1.0, 1.0))
        total += reward
        if ended or over:
            break
    assert ended
    assert total == pytest.approx(far - seen[2])


@pytest.mark.filterwarnings(UNLIMITED)
def test_threads_do_what_single_environments_do() -> None:
    many = bunraku.gym.make_many("LiftHand", 5, threads=2)
    together, _ = many.reset(seed=10)
    single: list[Any] = [bunraku.gym.make("LiftHand") for _ in range(5)]
    seen = [env.reset(seed=10 + k)[0] for k, env in enumerate(single)]
    assert np.array_equal(together, seen)
    rng = np.random.default_rng(0)
    for _ in range(8):
        actions = rng.uniform(-1, 1, (5, 3))
        found, rewards, _, _, _ = many.step(actions)
        for k, env in enumerate(single):
            own, reward, *_ = env.step(actions[k])
            assert np.array_equal(found[k], own)
            assert rewards[k] == reward
    many.close()


def test_one_that_has_ended_starts_anew() -> None:
    many = bunraku.gym.make_many("LiftHand", 2, threads=2)
    start, _ = many.reset(seed=1)
    many.envs[0]._count = many.envs[0].task.options.steps - 1
    still = np.zeros((2, 3))
    _, _, _, over, _ = many.step(still)
    assert over.tolist() == [True, False]
    seen, rewards, _, over, _ = many.step(still)
    assert rewards[0] == 0.0
    assert not over.any()
    assert np.allclose(seen[0][:-3], start[0][:-3])  # at rest again, with another goal
    assert not np.allclose(seen[0][-3:], start[0][-3:])
    many.close()


def test_wrong_names_and_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="did you mean LiftHand"):
        bunraku.gym.make("LiftHands")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtra, match=r"bunraku\[gym\]"):
        bunraku.gym.make("LiftHand")
