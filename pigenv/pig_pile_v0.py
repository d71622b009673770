"""Pig Pile as a PettingZoo module: `env`, `raw_env` (the same) and `parallel_env`; see `pigenv.envs.aec.PigAECEnv`."""

from pigenv.envs.aec import constructors

env, raw_env, parallel_env = constructors("pig_pile")
