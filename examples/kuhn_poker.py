"""Kuhn poker for two or more: one card each, one chip to put in and one to bet (Kuhn 1950; Szafron et al. 2013)."""


class KuhnPoker:
    """Kuhn poker: one card each, one bet."""

    id = "kuhn_poker_v0"
    actions = ("pass", "bet")

    def __init__(self, players: int = 3) -> None:
        self.num_players = players
        self.max_turns = 2 * players - 1
        self.reward_range = (-2, 2 * (players - 1))
        turns = [f"{action} at turn {turn}" for turn in range(self.max_turns) for action in self.actions]
        self.features = {"card": players + 1, "made": turns}

    def deal(self, rng) -> None:
        """A card each of ``players + 1``, the highest wins; player_0 begins."""
        self.cards = rng.permutation(self.num_players + 1)[: self.num_players]
        self.made, self.bettor, self.player = [], None, 0

    def legal(self):
        """Pass and bet, at every turn: after a bet they are to fold and to call."""
        return [0, 1]

    def act(self, action) -> None:
        """Everybody acts once, and once more after the first bet those before it."""
        if action == 1 and self.bettor is None:
            self.bettor = self.player
        self.made.append(action)
        over = len(self.made) == self.num_players + (self.bettor or 0)
        self.player = None if over else len(self.made) % self.num_players

    def reward(self):
        """The highest card among those who bet, or among all if nobody did, takes all chips."""
        bet = [False] * self.num_players
        for turn, action in enumerate(self.made):
            bet[turn % self.num_players] |= action == 1
        players = [p for p in range(self.num_players) if bet[p] or self.bettor is None]
        winner = max(players, key=lambda p: self.cards[p])
        paid = [1 + b for b in bet]
        return [(sum(paid) if p == winner else 0) - paid[p] for p in range(self.num_players)]

    def view(self, player):
        """A player sees the card it has and what was made."""
        return {"card": self.cards[player], "made": [2 * turn + action for turn, action in enumerate(self.made)]}

    def __str__(self) -> str:
        return f"cards {' '.join(map(str, self.cards))}"
