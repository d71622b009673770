"""PPO in one file, in CleanRL's manner: one seat of many tables, masks stored with the decisions, torch alone.

python examples/cleanrl_ppo.py --preset small --total-steps 1000000
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import pigenv  # noqa: F401 (makes the environments' names known)


class Agent(nn.Module):
    """Policy and value of an observation, each by a network of its own."""

    def __init__(self, size: int, actions: int) -> None:
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, actions)
        )
        self.critic = nn.Sequential(nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))

    def policy(self, observations: torch.Tensor, masks: torch.Tensor) -> Categorical:
        """The distribution over legal actions; the same masks give the same one when learning as when acting."""
        return Categorical(logits=self.actor(observations).masked_fill(~masks, -1e8))


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """What the script can be told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--game", default="Pig10-v0", help="as Gymnasium knows it, after pigenv/")
    parser.add_argument("--preset", default="small")
    parser.add_argument("--opponents", default="uniform")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--total-steps", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-steps", type=int, default=64)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01)
    return parser.parse_args(given)


def main(args: argparse.Namespace) -> tuple[Agent, list[float]]:
    """Train; gives the agent and the mean return of the games that ended in each update."""
    torch.manual_seed(args.seed)
    envs = gymnasium.make_vec(
        f"pigenv/{args.game}", num_envs=args.num_envs, preset=args.preset, opponents=args.opponents,
        illegal="raise", autoreset_mode="SAME_STEP",
    )  # fmt: skip
    size, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    agent = Agent(size, actions)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    observations, masks = torch.zeros((*shape, size)), torch.zeros((*shape, actions), dtype=torch.bool)
    chosen, logprobs, values = torch.zeros(shape, dtype=torch.int64), torch.zeros(shape), torch.zeros(shape)
    rewards, dones = torch.zeros(shape), torch.zeros(shape)

    seen, infos = envs.reset(seed=args.seed)
    sums, curve, started = np.zeros(args.num_envs), [], time.time()
    updates = max(1, args.total_steps // (args.num_steps * args.num_envs))
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / updates)
        ended: list[float] = []
        for step in range(args.num_steps):
            observations[step], masks[step] = torch.as_tensor(seen), torch.as_tensor(infos["action_mask"]) == 1
            with torch.no_grad():
                policy = agent.policy(observations[step], masks[step])
                chosen[step] = policy.sample()
                logprobs[step] = policy.log_prob(chosen[step])
                values[step] = agent.critic(observations[step]).squeeze(-1)
            seen, reward, terminated, truncated, infos = envs.step(chosen[step].numpy())
            # A game cut short is paid as it stands: for the learner it has ended, and nothing is bootstrapped.
            over = terminated | truncated
            rewards[step], dones[step] = torch.as_tensor(reward), torch.as_tensor(over)
            sums += reward
            ended += sums[over].tolist()
            sums[over] = 0

        # Advantages, without discount: games are short and paid at their end.
        with torch.no_grad():
            following, advantage = agent.critic(torch.as_tensor(seen)).squeeze(-1), torch.zeros(args.num_envs)
            advantages = torch.zeros(shape)
            for step in reversed(range(args.num_steps)):
                going_on = 1 - dones[step]
                delta = rewards[step] + following * going_on - values[step]
                advantages[step] = advantage = delta + args.gae_lambda * going_on * advantage
                following = values[step]

        flat = {
            "observations": observations.reshape(-1, size), "masks": masks.reshape(-1, actions),
            "chosen": chosen.reshape(-1), "logprobs": logprobs.reshape(-1),
            "advantages": advantages.reshape(-1), "returns": (advantages + values).reshape(-1),
        }  # fmt: skip
        for _ in range(args.epochs):
            for rows in torch.randperm(len(flat["chosen"])).chunk(args.minibatches):
                batch = {name: each[rows] for name, each in flat.items()}
                policy = agent.policy(batch["observations"], batch["masks"])
                ratio = (policy.log_prob(batch["chosen"]) - batch["logprobs"]).exp()
                normal = (batch["advantages"] - batch["advantages"].mean()) / (batch["advantages"].std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.min(normal * ratio, normal * clipped).mean()
                value_loss = 0.5 * (agent.critic(batch["observations"]).squeeze(-1) - batch["returns"]).pow(2).mean()
                loss = policy_loss + 0.5 * value_loss - args.entropy * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        curve.append(float(np.mean(ended)) if ended else float("nan"))
        steps = (update + 1) * args.num_steps * args.num_envs
        print(f"{steps} steps, return {curve[-1]:+.3f}, {steps / (time.time() - started):,.0f} steps/s")  # noqa: T201
    return agent, curve


if __name__ == "__main__":
    main(arguments())
