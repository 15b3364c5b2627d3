"""Points of a round, bags, and when the game is over.

Source: "Bidding in Spades", section 2. A side that takes its contract (the sum of its bids) gets 10 points a
trick bid and 1 a bag (trick beyond), else it loses 10 a trick bid. A nil is scored for its bidder alone:
+100 without a trick, -100 with one (blind: 200). Ten bags cost ``bag_penalty`` points: 110 in the paper, whose
example says that the ten points go with the bags (288 and then 63 make 241); 100 by the common rule (251).

What the tricks of a failed nil are is the rule ``failed_nil``: "bags" (the paper scores the partners
separately, and so do the common rules, where the tricks are bags), "partner" (they count for the partner's bid,
as in OpenSpiel) or "nothing". Every bag is a point and all else is tens, so a side's bags are always its score
modulo 10 (never negative).
"""

from bidzoo.core.kernels import State, assign_row, row
from bidzoo.envs.spades.deals import deal_row
from bidzoo.envs.spades.state import BAGS, NIL, NO_GOAL, OVER, PARTNER

TRICK_POINTS, NIL_POINTS, BAG_LIMIT = 10, 100, 10


@row
def side_points_row(state: State, side: int) -> tuple[int, int]:
    """Points and bags of ``side`` for the 13 tricks just played, before the bag penalty."""
    points, contract, tricks, nil_tricks = 0, 0, 0, 0
    for seat in range(side, 4, state.sides):
        bid, won = int(state.bids[seat]), int(state.won[seat])
        if bid == NIL:
            worth = NIL_POINTS * (2 if state.blind >> seat & 1 else 1)
            points += worth if won == 0 else -worth
            nil_tricks += won
        else:
            contract += bid
            tricks += won
    if state.failed_nil == PARTNER:
        tricks += nil_tricks
    bags = 0
    if tricks >= contract:
        bags = tricks - contract
        points += TRICK_POINTS * contract
    else:
        points -= TRICK_POINTS * contract
    if state.failed_nil == BAGS:
        bags += nil_tricks
    return points + bags, bags


@row
def gap_row(state: State, side: int) -> float:
    """Points of ``side`` for a finished round, bag penalties included, minus the others' mean."""
    gap = 0.0
    for s in range(state.sides):
        points, bags = side_points_row(state, s)
        points -= int(state.bag_penalty) * ((int(state.bags[s]) + bags) // BAG_LIMIT)
        gap += points if s == side else -points / (state.sides - 1)
    return gap


@row
def score_row(state: State) -> None:
    """Update gains, scores and bags of every side after 13 tricks; the round becomes the last one."""
    for side in range(state.sides):
        points, bags = side_points_row(state, side)
        bags += int(state.bags[side])
        points -= int(state.bag_penalty) * (bags // BAG_LIMIT)
        state.bags[side] = bags % BAG_LIMIT
        state.gains[side] = points
        state.scores[side] += points
    assign_row(state.last_bids, state.bids)
    assign_row(state.last_won, state.won)
    state.last_blind = state.blind
    state.rounds += 1


@row
def leader_row(points: State, sides: int) -> int:
    """The side with most ``points``; -1 if two share them."""
    best, shared = 0, False
    for side in range(1, sides):
        if points[side] > points[best]:
            best, shared = side, False
        elif points[side] == points[best]:
            shared = True
    return -1 if shared else best


@row
def goal_reached_row(state: State) -> bool:
    """Whether some side is at the winning goal or above it, or at the losing goal or below it."""
    for side in range(state.sides):
        if state.scores[side] >= state.win_goal:
            return True
        if state.lose_goal > NO_GOAL and state.scores[side] <= state.lose_goal:
            return True
    return False


@row
def end_round_row(state: State) -> None:
    """Score the round, then end the game or deal the next round by the next dealer.

    At a goal the highest score wins; if two share it, another round is played. After ``max_rounds`` rounds the
    game is over in any case, a shared lead being a draw. An episode of one round is won by its gains.
    """
    score_row(state)
    leader = leader_row(state.gains if state.max_rounds == 1 else state.scores, state.sides)
    if state.rounds >= state.max_rounds or (leader >= 0 and goal_reached_row(state)):
        state.phase = OVER
        state.turn = -1
        state.winner = leader
    else:
        state.dealer = (state.dealer + 1) % 4
        deal_row(state)
