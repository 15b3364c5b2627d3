"""Every figure of the JPS paper on small games, in one place.

Source: Tian, Gong and Jiang 2020, "Joint Policy Search for Multi-agent Collaboration with Imperfect Information",
arXiv 2008.06495: Table 1, Table 2, Table 4, the text of section 6. Where the table prints three digits, so do we.
"""

GAMES = (
    "comm_v0(length=3)",
    "comm_v0(length=5)",
    "comm_v0(length=6)",
    "comm_v0(length=7)",
    "mini_hanabi_v0()",
    "simple_bidding_v0(size=4)",
    "simple_bidding_v0(size=8)",
    "simple_bidding_v0(size=16)",
    "minibridge_v0(size=3)",
    "minibridge_v0(size=4)",
    "minibridge_v0(size=5)",
)
ROWS = ("CFR1k", "CFR1k+JPS", "A2C", "BAD")

TABLE_1: dict[str, tuple[float, ...]] = {  # in the order of GAMES
    "CFR1k": (0.89, 0.85, 0.85, 0.85, 9.11, 2.18, 4.96, 10.47, 1.01, 1.62, 2.60),
    "CFR1k+JPS": (1.00, 1.00, 1.00, 1.00, 9.50, 2.20, 5.00, 10.56, 1.07, 1.71, 2.74),
    "A2C": (0.60, 0.57, 0.51, 0.02, 8.20, 2.19, 4.79, 9.97, 0.66, 1.03, 1.71),
    "BAD": (1.00, 0.88, 0.50, 0.29, 9.47, 2.23, 4.99, 9.81, 0.53, 0.98, 1.31),
    "Best known": (1.00, 1.00, 1.00, 1.00, 10.0, 2.25, 5.06, 10.75, 1.13, 1.84, 2.89),
}
STATES = (633, 34785, 270273, 2129793, 53, 241, 1985, 16129, 4081, 25576, 147421)
INFOSETS = (129, 2049, 8193, 32769, 45, 61, 249, 1009, 1021, 5116, 24571)

BAD_JPS = {  # section 6, text: BAD+JPS; the same figures as "All states" of Table 2
    "simple_bidding_v0(size=16)": 10.47,
    "minibridge_v0(size=3)": 1.12,
    "minibridge_v0(size=4)": 1.71,
    "minibridge_v0(size=5)": 2.77,
}

SAMPLES = (1, 2, 5, 8, 15, 20, 25, 30)  # columns of Table 2
TABLE_2: dict[tuple[str, str], tuple[float, tuple[float, ...]]] = {  # (game, start): all states, samples
    ("mini_hanabi_v0()", "CFR1k"): (9.50, (10.00, 9.99, 9.95, 9.75, 9.51, 9.51, 9.51, 9.51)),
    ("simple_bidding_v0(size=16)", "CFR1k"): (10.56, (10.47, 10.47, 10.49, 10.52, 10.58, 10.60, 10.61, 10.61)),
    ("simple_bidding_v0(size=16)", "BAD"): (10.47, (9.91, 9.95, 10.22, 10.34, 10.50, 10.55, 10.57, 10.55)),
    ("minibridge_v0(size=3)", "BAD"): (1.12, (0.89, 1.12, 1.13, 1.13, 1.12, 1.12, 1.12, 1.12)),
    ("minibridge_v0(size=4)", "BAD"): (1.71, (1.23, 1.63, 1.71, 1.71, 1.68, 1.67, 1.68, 1.69)),
    ("minibridge_v0(size=5)", "BAD"): (2.77, (2.12, 2.51, 2.74, 2.79, 2.79, 2.76, 2.77, 2.78)),
}

# section 6, "runtime speed": seconds of a JPS iteration and of brute force, and their ratio; None: not given
SPEED: dict[str, tuple[float | None, float | None, float]] = {
    "simple_bidding_v0(size=8)": (1.0, 4.0, 4.0),
    "simple_bidding_v0(size=16)": (20.0, 260.0, 13.0),
    "comm_v0(length=4)": (None, None, 3.0),
    "minibridge_v0(size=4)": (None, None, 30.0),
}

TABLE_4 = (  # auctions of a policy worth 1.84 in MiniBridge 4; row: hearts of player_0, column: of player_1
    ("1S-2S-3S-4S-P", "1S-2S-3S-P", "1S-2H-2S-P", "1S-P", "1S-2H-2S-4H-4S-P"),
    ("P-2S-3S-P", "P-1S-2S-P", "P-P", "P-P", "P-1H-P"),
    ("P-2S-P", "P-1S-P", "P-P", "P-P", "P-1H-2H-P"),
    ("1H-1S-P", "1H-P", "1H-P", "1H-2H-P", "1H-3H-P"),
    ("1H-1S-4H-4S-P", "1H-P", "1H-P", "1H-2H-3H-P", "1H-3H-3S-4H-P"),
)
