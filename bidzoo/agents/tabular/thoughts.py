"""What a tabular strategy thinks: its distribution here, and the partner's type as the actions so far tell it."""

import numpy as np

from bidzoo.agents.tabular.policy import TablePolicy, game_of
from bidzoo.agents.tabular.solver import FORMS, Solved
from bidzoo.agents.thoughts import Bars, Thoughts
from bidzoo.envs.signals.compiled import Compiled, locate
from bidzoo.kernels import F64, Tables


def table_thoughts(policy: Solved | TablePolicy, views: Tables) -> Thoughts:
    """Chances of the actions, and the belief about the partner's type given that both play this strategy."""
    if isinstance(policy, Solved):
        policy = policy.policy(game_of(FORMS[int(views["game"][0])].format(int(views["extent"][0]))))
    form, game = policy.compiled, policy.game
    node, player, own = int(locate(form, views)[0]), int(views["player"][0]), int(views["type"][0])
    first, count = int(form.first[node]), int(form.count[node])
    children = range(first, first + count)
    chances = {int(form.action[c]): float(policy.strategy[c, own]) for c in children}
    posterior = partner_types(form, policy.strategy, node, player, own)
    word = game.type_word
    rows = tuple((f"{word} {x}", float(chance)) for x, chance in enumerate(posterior))
    bars = (Bars(f"Partner's {word}, from what was said", rows),) if len(rows) > 1 else ()
    facts = () if len(rows) == 1 else ((f"my {word}", str(own)),)
    return Thoughts(chances=chances, bars=bars, facts=facts)


def partner_types(form: Compiled, strategy: F64, node: int, player: int, own: int) -> F64:
    """Posterior of the other player's types; where the history has probability 0, the prior."""
    prior = form.prior[own] if player == 0 else form.prior[:, own]
    reach = np.ones(len(prior))
    while node > 0:
        parent = int(form.parent[node])
        if int(form.player[parent]) != player:
            reach *= strategy[node, : len(prior)]
        node = parent
    found = prior * reach
    found = found if found.sum() > 0 else prior
    return np.asarray(found / found.sum(), np.float64)
