"""What the tags of one PBN game say of its board, each checked against the laws and the others."""

import re

from bidzoo.cards import PASS, SEAT_NAMES, SEATS, call_number, card_number, hand_number, seat_number
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.files.board import Board, Call, Replay, check_hands, contract_numbers, contract_text
from bidzoo.envs.bridge.files.pbn_grammar import Tag, Word
from bidzoo.envs.bridge.files.pbn_tables import double_dummy_tricks, result_table

_NOT_SAID = ("", "?", "-")
_NOTE = re.compile(r"=(\d+)=")
_VULNERABLE = {"none": 0, "love": 0, "-": 0, "ns": 1, "ew": 2, "all": 3, "both": 3}
_KNOWN = {
    "Board", "Dealer", "Vulnerable", "Deal", "Auction", "Contract", "Declarer", "Play", "Result", "Note",
    "OptimumResultTable", "DoubleDummyTricks", *SEAT_NAMES,
}  # fmt: skip


class Game:
    """The tags of one game, and what they say of the board."""

    def __init__(self, tags: dict[str, Tag], notes: dict[str, dict[str, str]], source: str) -> None:
        self.tags, self.notes, self.source = tags, notes, source

    def board(self) -> Board:
        """All of it; what one tag says is checked against the others."""
        number = self.number()
        dealer = self.seat("Dealer")
        vulnerable = self.vulnerable()
        if number is not None:
            dealer = auction.dealer_row(number - 1) if dealer is None else dealer
            vulnerable = auction.vulnerable_row(number - 1) if vulnerable is None else vulnerable
        hands = self.hands()
        dealer, calls, replay = self.auction(dealer, vulnerable, hands)
        contract, declarer = self.contract(replay)
        cards, claimed, counted = self.play(replay, contract, declarer, hands)
        north, east, south, west = (self.value(name) for name in SEAT_NAMES)
        return Board(
            number=number,
            dealer=dealer,
            vulnerable=vulnerable,
            hands=hands,
            auction=calls,
            contract=contract,
            declarer=declarer,
            play=cards,
            claimed=claimed,
            result=self.result(declarer, counted),
            tricks=self.tricks(),
            names=(north, east, south, west),
            tags={name: tag.value for name, tag in self.tags.items() if self.other(tag)},
        )

    def other(self, tag: Tag) -> bool:
        """A plain tag that says something and has no field of its own."""
        return tag.name not in _KNOWN and not tag.words and tag.value not in ("", "?")

    def error(self, at: Tag | Word, name: str, message: object) -> ValueError:
        return ValueError(f"{self.source}:{at.line}: {name}: {message}")

    def value(self, name: str) -> str:
        """Value of a tag, ``""`` if it says nothing."""
        tag = self.tags.get(name)
        return "" if tag is None or tag.value.strip() in _NOT_SAID else tag.value.strip()

    def number(self) -> int | None:
        text = self.value("Board")
        if text and not (text.isdecimal() and int(text) > 0):
            raise self.error(self.tags["Board"], "Board", f"{text!r}, expected a number from 1")
        return int(text) if text else None

    def seat(self, name: str) -> int | None:
        text = self.value(name).removeprefix("^")
        try:
            return seat_number(text) if text else None
        except ValueError as error:
            raise self.error(self.tags[name], name, error) from error

    def vulnerable(self) -> int | None:
        tag = self.tags.get("Vulnerable")
        if tag is None or tag.value.strip() in ("", "?"):
            return None
        if tag.value.strip().lower() not in _VULNERABLE:
            raise self.error(tag, "Vulnerable", f"{tag.value!r}, expected None, NS, EW or All")
        return _VULNERABLE[tag.value.strip().lower()]

    def hands(self) -> tuple[int, int, int, int] | None:
        text = self.value("Deal")
        if not text:
            return None
        try:
            first, colon, rest = text.partition(":")
            if not colon or len(rest.split()) != 4:
                raise ValueError(f"{text!r}, expected a seat, a colon and four hands")
            seat = seat_number(first.strip())
            shown = [0 if hand == "-" else hand_number(hand) for hand in rest.split()]
            return check_hands(tuple(shown[(s - seat) % 4] for s in range(4)))
        except ValueError as error:
            raise self.error(self.tags["Deal"], "Deal", error) from error

    def auction(
        self, dealer: int | None, vulnerable: int | None, hands: tuple[int, int, int, int] | None
    ) -> tuple[int | None, tuple[Call, ...], Replay | None]:
        """Dealer, calls, and the table after them (none without an auction)."""
        tag = self.tags.get("Auction")
        if tag is None or not self.value("Auction"):
            return dealer, (), None
        first = self.seat("Auction")
        if first is None or (dealer is not None and first != dealer):
            raise self.error(tag, "Auction", f"begins with {tag.value}, expected the dealer, {SEATS[dealer or 0]}")
        replay = Replay(first, vulnerable, hands)
        calls: list[Call] = []
        for word in tag.words:
            if word.text in ("*", "+"):  # broken off; to be continued
                break
            try:
                self._auction_word(word.text, calls, replay)
            except ValueError as error:
                raise self.error(word, "Auction", error) from error
        return first, tuple(calls), replay

    def _auction_word(self, word: str, calls: list[Call], replay: Replay) -> None:
        note = _NOTE.fullmatch(word)
        if note:
            if not calls:
                raise ValueError(f"note {word} before any call")
            if note[1] not in self.notes["Auction"]:
                raise ValueError(f'note {word} is not there, expected [Note "{note[1]}:..."]')
            text = "; ".join(filter(None, (calls[-1].note, self.notes["Auction"][note[1]])))
            calls[-1] = Call(calls[-1].call, alert=True, note=text)
        elif word.upper() == "AP":
            while not replay.bid_over:
                replay.call(PASS)
                calls.append(Call(PASS))
        elif not _is_mark(word) and word != "-":
            call = call_number(word.rstrip("!?"))
            replay.call(call)
            calls.append(Call(call))

    def contract(self, replay: Replay | None) -> tuple[str | None, int | None]:
        """Contract and declarer, as tagged or as the auction ends; both, if given, must agree."""
        declarer = self.seat("Declarer")
        try:
            text = contract_text(*contract_numbers(self.value("Contract"))) if self.value("Contract") else None
        except ValueError as error:
            raise self.error(self.tags["Contract"], "Contract", error) from error
        if replay is None or not replay.bid_over:
            return text, declarer
        if text is not None and text != replay.contract:
            raise self.error(self.tags["Contract"], "Contract", f"{text}, expected {replay.contract} by the auction")
        if declarer is not None and declarer != replay.declarer:
            by = "nobody" if replay.declarer is None else SEATS[replay.declarer]
            raise self.error(self.tags["Declarer"], "Declarer", f"{SEATS[declarer]}, expected {by} by the auction")
        return replay.contract, replay.declarer

    def play(
        self, replay: Replay | None, contract: str | None, declarer: int | None, hands: tuple[int, int, int, int] | None
    ) -> tuple[tuple[int, ...], bool, int | None]:
        """Cards in the order played, whether the rest was claimed, and declarer's tricks if all were played."""
        tag = self.tags.get("Play")
        if tag is None:
            return (), False, None
        columns, claimed = self._columns(tag)
        if not columns:
            return (), claimed, None
        if contract is None or contract == "Pass" or declarer is None or hands is None or 0 in hands:
            raise self.error(tag, "Play", "cards are played, expected four hands, a contract and its declarer")
        if replay is None or not replay.bid_over:
            replay = Replay(0, None, hands)
            replay.settle(contract, declarer)
        replay.start_play()
        first = self.seat("Play")
        if first != (declarer + 1) % 4:
            raise self.error(tag, "Play", f"begins with {tag.value}, expected the leader, {SEATS[(declarer + 1) % 4]}")
        cards: list[int] = []
        for start in range(0, len(columns), 4):
            for _ in range(4):
                column = start + (int(replay.table["hand_to_play"]) - first) % 4
                word, card = columns[column] if column < len(columns) else (None, None)
                if word is None or card is None:
                    return tuple(cards), claimed, None
                try:
                    replay.card(card)
                except ValueError as error:
                    raise self.error(word, "Play", error) from error
                cards.append(card)
        return tuple(cards), claimed, replay.result

    def _columns(self, tag: Tag) -> tuple[list[tuple[Word, int | None]], bool]:
        """The cells of the play table, row by row, ``None`` for a card not shown; and whether it ends in a claim."""
        cells: list[tuple[Word, int | None]] = []
        for word in tag.words:
            if word.text in ("*", "+"):
                return cells, word.text == "*"
            if _is_mark(word.text):
                continue
            try:
                cells.append((word, None if word.text == "-" else card_number(word.text.rstrip("!?"))))
            except ValueError as error:
                raise self.error(word, "Play", error) from error
        return cells, False

    def result(self, declarer: int | None, counted: int | None) -> int | None:
        """Declarer's tricks, as tagged (``9``, ``NS 9``, ``EW 4 NS 9``) or as played."""
        text = self.value("Result").removeprefix("^")
        if not text:
            return counted
        sides = dict(re.findall(r"(NS|EW) (\d+)", text))
        if sides and declarer is not None:
            ours, theirs = ("NS", "EW") if declarer % 2 == 0 else ("EW", "NS")
            won = int(sides[ours]) if ours in sides else 13 - int(sides[theirs])
        else:
            won = int(text) if text.isdecimal() else -1
        if not 0 <= won <= 13:
            raise self.error(self.tags["Result"], "Result", f"{text!r}, expected 0 ... 13 tricks")
        if counted is not None and won != counted:
            raise self.error(self.tags["Result"], "Result", f"{won} tricks, expected {counted} by the cards played")
        return won

    def tricks(self) -> tuple[int, ...] | None:
        """Double-dummy table, if one is tagged."""
        table = self.tags.get("OptimumResultTable")
        if table is not None and table.words:
            return result_table(table, self.source)
        return (
            double_dummy_tricks(self.tags["DoubleDummyTricks"], self.source)
            if self.value("DoubleDummyTricks")
            else None
        )


def _is_mark(word: str) -> bool:
    """A comment on a call or card that changes nothing: ``$3``, ``!``, ``^R``, or its note ``=1=``."""
    return word[:1] in ("$", "^") or not word.strip("!?") or _NOTE.fullmatch(word) is not None
