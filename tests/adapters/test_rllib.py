"""RLlib's new API stack over our tables: its checks, its runner's episodes, its masked module, its PPO."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray")
torch = pytest.importorskip("torch")
pytest.importorskip("ray.rllib")

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from pigenv.adapters.rllib import TurnsEnv
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY, credited, replayed

GAMES = pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])


def played(env, generator, seed=None):
    """A game by random legal actions: the actions, what each agent was paid at each of its observations, the end."""
    observations, _ = env.reset(seed=seed)
    actions, paid = [], {agent: [] for agent in env.possible_agents}
    while True:
        ((mover, seen),) = observations.items()
        actions.append(int(generator.choice(np.flatnonzero(seen["action_mask"]))))
        observations, rewards, terminated, truncated, infos = env.step({mover: actions[-1]})
        assert rewards.keys() == observations.keys() == infos.keys()
        for agent, reward in rewards.items():
            paid[agent].append(reward)
        if terminated["__all__"] or truncated["__all__"]:
            return actions, paid, terminated, truncated


def configured(settings, **kwargs):
    # RLlib's check plays illegally, so where that is refused it is off; the recipe leaves it on.
    env = TurnsEnv(settings)
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        observation_space=env.observation_spaces["player_0"],
        action_space=env.action_spaces["player_0"],
        model_config={"head_fcnet_hiddens": [32], "fcnet_hiddens": [32]},
    )
    return (
        PPOConfig()
        .environment(TurnsEnv, env_config={**settings, **kwargs}, disable_env_checking="illegal" in kwargs)
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": module}))
        .training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1, gamma=1.0)
        .debugging(seed=1)
    )


def test_masks_are_obeyed_for_1000_games():
    """RLlib's masked module plays 1,000 games, some in RLlib's own runner; tables refuse illegal actions."""
    runner = MultiAgentEnvRunner(config=configured(TINY, illegal="raise"))
    assert sum(episode.is_done for episode in runner.sample(num_episodes=20, random_actions=False)) >= 20
    module, games = runner.module["shared"], 0
    envs = [TurnsEnv({**TINY, "illegal": "raise"}) for _ in range(100)]
    seen = [env.reset(seed=i)[0] for i, env in enumerate(envs)]
    while games < 1000:
        rows = [next(iter(each.values())) for each in seen]
        batch = {key: torch.as_tensor(np.stack([row[key] for row in rows])) for key in rows[0]}
        with torch.no_grad():
            logits = module.forward_exploration({"obs": batch})["action_dist_inputs"]
        actions = torch.distributions.Categorical(logits=logits).sample().tolist()
        for i, env in enumerate(envs):
            seen[i], _, terminated, truncated, _ = env.step({next(iter(seen[i])): actions[i]})
            if terminated["__all__"] or truncated["__all__"]:
                games += 1
                seen[i] = env.reset()[0]


@GAMES
def test_returns_go_to_the_right_seat(settings):
    """What each agent is paid over a game is what a plain table pays its seat for the same actions."""
    env, generator = TurnsEnv({**settings, "illegal": "raise"}), np.random.default_rng(1)
    for seed in range(5):
        actions, paid, *_ = played(env, generator, seed)
        np.testing.assert_allclose(
            [sum(each) for each in paid.values()], replayed(settings, seed, actions).returns, atol=1e-6
        )


def test_rewards_on_others_turns_are_kept():
    """In the episodes of RLlib's runner each decision has what its seat is paid up to its next one."""
    runner = MultiAgentEnvRunner(config=configured(ROUNDS, illegal="raise"))
    late = 0
    for episode in runner.sample(num_episodes=5, random_actions=False):
        for single in episode.agent_episodes.values():
            assert len(single.get_rewards()) == len(single.get_actions())
        returns = np.array(
            [sum(episode.agent_episodes[agent].get_rewards()) for agent in sorted(episode.agent_episodes)]
        )
        assert len(returns) == 3
        assert returns.sum() == pytest.approx(0, abs=1e-5)
        late += bool(np.abs(returns).max() > 0)
    assert late
    # Decision by decision, at the environment itself.
    env = TurnsEnv({**ROUNDS, "illegal": "raise"})
    actions, paid, *_ = played(env, np.random.default_rng(2), 3)
    replay = replayed(ROUNDS, 3, actions)
    for seat, agent in enumerate(env.possible_agents):
        # The first observation of all comes without a reward; that of the others with nothing paid before.
        first = replay.seats[0] == seat
        np.testing.assert_allclose(paid[agent] if first else paid[agent][1:], credited(replay, seat), atol=1e-6)


def test_seeds_reproduce():
    """The same seed deals the same games, another one others."""

    def games(seed):
        return [played(TurnsEnv(SMALL), np.random.default_rng(1), seed)[0] for _ in range(2)]

    assert games(1) == games(1)
    assert games(1) != games(2)


def test_cut_games_are_truncated_and_not_terminated():
    """Every agent of a game cut short is truncated; of one that ended, terminated."""
    for settings, cut in ((CUT, True), (TINY, False)):
        _, _, terminated, truncated = played(TurnsEnv(settings), np.random.default_rng(1), 1)
        assert set(truncated.values()) == {cut}
        assert set(terminated.values()) == {not cut}


def test_cut_games_end_where_nothing_may_be_bootstrapped():
    """With `bootstrap=False` a game cut short ends like any other, so that RLlib adds no value to what was paid."""
    _, paid, terminated, truncated = played(TurnsEnv({**CUT, "bootstrap": False}), np.random.default_rng(1), 1)
    assert set(terminated.values()) == {True}
    assert set(truncated.values()) == {False}
    assert paid == played(TurnsEnv(CUT), np.random.default_rng(1), 1)[1]
