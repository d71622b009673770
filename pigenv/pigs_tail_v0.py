"""Pig's Tail as a PettingZoo module: `env`, `raw_env` (the same), `parallel_env`; see `pigenv.envs.aec.PigAECEnv`."""

from pigenv.envs.aec import constructors

env, raw_env, parallel_env = constructors("pigs_tail")
