"""Stable-Baselines3 and sb3-contrib: its models as policies at our tables, our batched engine as its ``VecEnv``."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.utils import obs_as_tensor
from stable_baselines3.common.vec_env import VecEnv, VecNormalize
from stable_baselines3.dqn.policies import DQNPolicy

from bidzoo.core.kernels import F64, I8, I64, States
from bidzoo.core.streams import Streams
from bidzoo.envs.game import Game
from bidzoo.wrappers.batch import Batch
from bidzoo.wrappers.gymnasium import SingleAgentVector

_LEAST = 1e-9  # chance of a legal action at least: a network without masks may put none on any of them


class SB3Policy:
    """A PPO, A2C, MaskablePPO or DQN model as a policy of ``game``; it follows the model while that learns.

    Args:
        model: trained on observations of ``game``'s encoder.
        game: the game it plays.
        greedy: take the likeliest legal action; else sample from the legal ones by the model's probabilities. A DQN has
            none and is always greedy.
        name: shown in results.
        normalize: what observations were normalized by in training; default: the ``VecNormalize`` of the model's
            environment, if it has one. A model that was loaded without its environment needs to be told.

    Raises:
        ValueError: the model takes other observations or actions than ``game`` has, or is of another algorithm.
    """

    def __init__(
        self, model: Any, game: Game, greedy: bool = False, name: str = "sb3", normalize: VecNormalize | None = None
    ) -> None:
        self.game, self.greedy, self.name = game, greedy, name
        self.network: Any = model.policy
        samples = hasattr(self.network, "get_distribution") and not hasattr(self.network, "lstm_actor")
        if not (samples or isinstance(self.network, DQNPolicy)) or not hasattr(self.network.action_space, "n"):
            raise ValueError(f"the model is of {type(model).__name__}, expected PPO, A2C, MaskablePPO or DQN")
        self._normalize = model.get_vec_normalize_env() if normalize is None else normalize
        space = self.network.observation_space
        self._takes_masks = isinstance(space, spaces.Dict)  # MultiInputPolicy, of ``mask_in="observation"``
        observed = space["observation"] if self._takes_masks else space
        model_shape = (*observed.shape, int(self.network.action_space.n))
        if model_shape != (game.encoder.layout.size, game.num_actions):
            raise ValueError(
                f"the model takes {model_shape[0]} observations and {model_shape[-1]} actions; "
                f"{game.id} has {game.encoder.layout.size} and {game.num_actions}"
            )

    def freeze(self, name: str | None = None) -> SB3Policy:
        """A copy that stays as the model is now."""
        snapshot = copy.copy(self)
        weights = io.BytesIO()  # a network that has learned holds parts of its graph, which deepcopy refuses
        self.network.save(weights)
        weights.seek(0)
        snapshot.network = type(self.network).load(weights, device=self.network.device)
        snapshot.network.set_training_mode(False)
        snapshot._normalize = copy.deepcopy(self._normalize)
        snapshot.name = self.name if name is None else name
        return snapshot

    def __deepcopy__(self, memo: dict[int, Any]) -> SB3Policy:
        return self.freeze()

    def chances(self, views: States, legal: I8) -> F64:
        """Probability of each action ``[B, A]``, 0 where illegal; rows sum to 1 as nearly as the network's do.

        For a DQN: 1 at the legal action of highest value.
        """
        seen: Any = self.game.encoder(views)
        if self._takes_masks:
            seen = {"observation": seen, "action_mask": legal}
        if self._normalize is not None:
            seen = self._normalize.normalize_obs(seen)
        with torch.no_grad():
            observation = obs_as_tensor(seen, self.network.device)
            if isinstance(self.network, DQNPolicy):
                values = self.network.q_net(observation).double().cpu().numpy()
                best = np.where(legal > 0, values, -np.inf).argmax(1)
                return np.eye(self.game.num_actions)[best]
            chances = self.network.get_distribution(observation).distribution.probs.double().cpu().numpy()
        return np.where(legal > 0, np.maximum(chances, _LEAST), 0.0)

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``."""
        chances = self.chances(views, legal)
        if self.greedy:
            return chances.argmax(1)
        sums = chances.cumsum(1)
        return (sums > rng.random() * sums[:, -1:]).argmax(1)


class SB3VecEnv(VecEnv):
    """``SingleAgentVector``s side by side as one ``VecEnv``: thousands of tables in one process.

    Several of them, one for each seat that learns, train one model at all of those seats. MaskablePPO finds the
    masks by itself; wrap in ``VecMonitor`` for logged returns.

    Args:
        parts: environments of the same game, each once; or a single one.
    """

    def __init__(self, parts: Iterable[SingleAgentVector] | SingleAgentVector) -> None:
        self.parts = [parts] if isinstance(parts, SingleAgentVector) else list(parts)
        for part in self.parts:
            if not isinstance(part, SingleAgentVector):
                hint = "; bidzoo.make_vec plays every seat" if isinstance(part, Batch) else ""
                raise TypeError(f"SB3VecEnv takes gymnasium.make_vec(...).unwrapped, got {part!r}{hint}")
        for n, part in enumerate(self.parts):
            if any(part is earlier for earlier in self.parts[:n]):
                raise ValueError(f"part {n} is {part!r} again: its tables would be stepped twice; expected each once")
            if part.mask_in != "info" or part.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
                raise ValueError(f"part {n} is {part!r}: expected mask_in='info' and autoreset_mode='SameStep'")
        if len({(str(part.game), part.single_observation_space.shape) for part in self.parts}) != 1:
            raise ValueError(f"expected parts with one game, got {[part.game.id for part in self.parts]}")
        self._ends = np.cumsum([part.num_envs for part in self.parts])
        first = self.parts[0]
        super().__init__(int(self._ends[-1]), first.single_observation_space, first.single_action_space)
        self._actions: list[I64] = []

    def reset(self) -> I8:
        """First observations ``[B, F]``; after ``seed(s)`` a part plays the boards of seed ``s`` + its first row.

        A part takes the options that ``set_options`` gave its first row.
        """
        starts = self._ends - [part.num_envs for part in self.parts]
        observations = [
            part.reset(seed=self._seeds[start], options=self._options[start])[0]
            for part, start in zip(self.parts, starts)
        ]
        self._reset_seeds()
        self._reset_options()
        return np.concatenate(observations)

    def step_async(self, actions: I64) -> None:
        """Keep ``actions`` ``[B]`` for ``step_wait``."""
        self._actions = np.split(np.asarray(actions), self._ends[:-1])

    def step_wait(self) -> tuple[I8, Any, Any, list[dict[str, Any]]]:
        """Observations ``[B, F]``, rewards float32 ``[B]``, ends bool ``[B]``; infos hold the last observations."""
        observations, rewards, ends, infos = [], [], [], []
        for part, actions in zip(self.parts, self._actions):
            observation, reward, ended, _, info = part.step(actions)
            observations.append(observation)
            rewards.append(reward.astype(np.float32))
            ends.append(ended)
            last = info.get("final_obs", ())
            infos += [
                {"terminal_observation": last[b], "TimeLimit.truncated": False} if ended[b] else {}
                for b in range(part.num_envs)
            ]
        return np.concatenate(observations), np.concatenate(rewards), np.concatenate(ends), infos

    def get_images(self) -> list[Any]:
        """Every table as its ``render_mode`` shows it; None where that shows it elsewhere, or not at all."""
        return [image for part in self.parts for image in part.render() or [None] * part.num_envs]

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """``action_masks()`` or ``render()`` of each table, which is all that a table can do for itself."""
        if method_name == "action_masks":
            values = [mask for part in self.parts for mask in part.action_masks()]
        elif method_name == "render":
            values = self.get_images()
        else:
            raise AttributeError(f"{method_name}: a table of SB3VecEnv has action_masks() and render() only")
        return [values[b] for b in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the part that each table is in."""
        values = [getattr(part, attr_name) for part in self.parts for _ in range(part.num_envs)]
        return [values[b] for b in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: tables share their part's attributes."""
        raise AttributeError(f"{attr_name}: tables of SB3VecEnv have no attributes of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Tables are never wrapped one by one."""
        return [False] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        """Close the parts, and with them their windows."""
        for part in self.parts:
            part.close()
