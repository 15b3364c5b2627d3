"""A table to sit down at: bid and play against and with the agents, in a web page or in the terminal.

A ``Session`` is (game, board, actions so far); the page and the terminal both drive it, and every state they show is
replayed through the game's kernels.
"""
