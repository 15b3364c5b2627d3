"""A game, an encoder and two agents for bidzoo."""
