"""Any of our AEC environments as RLlib's ``MultiAgentEnv``."""

from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from bidzoo.envs.aec import TableEnv
from bidzoo.registry import make


class RLlibEnv(MultiAgentEnv):
    """One table; the agent to act is the only one with an observation.

    Observations are ``{"observations": float32 [F], "action_mask": float32 [A]}``, the names and the type that RLlib's
    ``ActionMaskingTorchRLModule`` takes. Rewards come at the end, to everybody.

    Args:
        config: ``{"env_id": "minibridge_v0", ...}``, the rest as in ``bidzoo.make``.

    Raises:
        ValueError: ``config`` names no game; otherwise as of ``bidzoo.make``.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        options = dict(config or {})
        if "env_id" not in options:
            raise ValueError(f"env_config {options}: expected a game, {{'env_id': 'minibridge_v0', ...}}")
        self.env: TableEnv = make(options.pop("env_id"), **options)
        self.render_mode = self.env.render_mode
        self.possible_agents = list(self.env.possible_agents)
        self.agents = list(self.possible_agents)
        game = self.env.game
        self.observation_spaces = {
            agent: spaces.Dict(
                observations=spaces.Box(0, 1, (game.encoder.layout.size,), np.float32),
                action_mask=spaces.Box(0, 1, (game.num_actions,), np.float32),
            )
            for agent in self.agents
        }
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.agents}
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The first observation of the next board, or of board 0 of ``seed``."""
        self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._observe(self.env.agent_selection), {}

    def step(self, action_dict: dict[str, int]) -> tuple[dict[str, Any], ...]:
        """Take the action of the agent to act; at the end everybody sees the table once more and is paid."""
        mover = self.env.agent_selection
        if set(action_dict) != {mover}:
            raise ValueError(f"expected an action of {mover}, got {sorted(action_dict)}")
        self.env.step(action_dict[mover])
        over = any(self.env.terminations.values())
        ends = {"__all__": over}, {"__all__": False}
        if not over:
            return self._observe(self.env.agent_selection), {}, *ends, {}
        return self._observe(*self.possible_agents), dict(self.env.rewards), *ends, {}

    def render(self) -> Any:
        """The table as the ``render_mode`` of ``config`` says."""
        return self.env.render()

    def close(self) -> None:
        """Close the window of ``render_mode="human"``."""
        self.env.close()

    def _observe(self, *agents: str) -> dict[str, dict[str, Any]]:
        observations = {}
        for agent in agents:
            observation = self.env.observe(agent)
            observations[agent] = {
                "observations": observation["observation"].astype(np.float32),
                "action_mask": observation["action_mask"].astype(np.float32),
            }
        return observations
