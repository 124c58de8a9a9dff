"""
Learning to lift a hand
=======================

An environment of gymnasium: a marionette hangs on its strings. A learner moves the spindle and winds the string of its left hand,
which should reach a point that is another one each time. 48 environments are stepped together.

The learner is as simple as can be: a linear policy, found by the cross-entropy method. Each of 48 candidates plays one episode, the
best eight are the next mean.
"""

import numpy as np

import bunraku.gym
from bunraku.render.video import save_pixels

CANDIDATES, BEST, ROUNDS, STEPS = 48, 8, 6, 40
many = bunraku.gym.make_many("LiftHand", CANDIDATES)
rng = np.random.default_rng(1)


def play(policies: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """The mean distance of the hand from its goal [m] in an episode of each policy (3 × 4): actions = policy · (error, 0.1).

    goals: seeds, from which the goals follow.
    """
    seen, _ = many.reset(seed=goals.tolist())
    total = np.zeros(CANDIDATES)
    for _ in range(STEPS):
        error = np.column_stack([seen[:, -3:], np.full(CANDIDATES, 0.1)])  # the last three numbers: from the hand to the goal [m]
        actions = np.einsum("kij,kj->ki", policies, error)
        seen, rewards, *_ = many.step(np.clip(actions, -1.0, 1.0))
        total -= rewards
    return total / STEPS


# %%
# A round: policies around the mean are played, and the best become the next mean.

mean, spread = np.zeros((3, 4)), 4.0 * np.ones((3, 4))
for round_ in range(ROUNDS):
    policies = mean + spread * rng.normal(size=(CANDIDATES, 3, 4))
    scores = play(policies, np.full(CANDIDATES, round_))  # all have the same goal
    best = policies[np.argsort(scores)[:BEST]]
    mean, spread = best.mean(0), best.std(0) + 0.3
    print(
        f"round {round_ + 1}: the best is {100 * scores.min():.1f} cm away on average, the median {100 * np.median(scores):.1f} cm"
    )

# %%
# On 24 goals that it has not seen, the learned policy is compared with doing nothing.

half = CANDIDATES // 2
both = np.concatenate([np.tile(mean, (half, 1, 1)), np.zeros((half, 3, 4))])
learned, nothing = play(both, np.tile(1000 + np.arange(half), 2)).reshape(2, half)
print(f"learned: {100 * learned.mean():.1f} cm away on average; doing nothing: {100 * nothing.mean():.1f} cm")
assert learned.mean() < 0.6 * nothing.mean(), "it has learned to lift the hand"
many.close()

# %%
# The puppet at the start, and after the learned policy has lifted its hand.

env = bunraku.gym.make("LiftHand", render_mode="rgb_array")
seen, _ = env.reset(seed=1000)
before = env.render()
for _ in range(STEPS):
    seen, *_ = env.step(np.clip(mean @ [*seen[-3:], 0.1], -1.0, 1.0))
save_pixels(np.hstack([before, env.render()]), "lifted.png")
