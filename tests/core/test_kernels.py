"""What every kernel stands on: compiled once, the same whatever the batch, exact random numbers, sets as bits."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import config
from numba.core.caching import NullCache

from bidzoo.agents.policy import choose
from bidzoo.core import linking
from bidzoo.core.bits import count_row, lowest_row, pick_row
from bidzoo.core.calls import Call
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import (
    I64,
    KERNELS,
    Kernel,
    State,
    allocate,
    assign_row,
    batched,
    kernel_named,
    row,
)
from bidzoo.core.plain import in_plain_python
from bidzoo.core.streams import below_row, next_row, unit_row
from bidzoo.core.threads import ROWS
from bidzoo.envs.bridge.auction import legal_row
from bidzoo.envs.bridge.state import STATE

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_kernel_is_compiled_once_for_its_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DATA))
    from constant_arguments import both_row, shift_row

    shift_row.body._cache = both_row.compiled._cache = NullCache()  # an earlier run may have left its own
    assert both_row(1) == 8 + 16 + 2
    assert not shift_row.compiled.signatures  # Python has not called it
    assert len(shift_row.body.signatures) == 1
    for form in shift_row.body.overloads.values():
        assert not form.library.get_pointer_to_function(form.fndesc.llvm_func_name)  # no machine code


def test_only_a_kernel_that_makes_arrays_counts_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting is atomic: with a view or two a row it is most of the work. Kernels from outside may make arrays."""

    @row
    def spread_row(x: I64, out: I64) -> None:
        shifted = x + 1
        for b in range(len(x)):
            out[b, :] = shifted[b]

    x, out, hands = np.arange(3), np.zeros((3, 2), np.int64), np.zeros((1, 4), np.int64)
    deals = kernel_named("bidzoo.envs.bridge.deals", "_random_deals")
    uses = [(spread_row, (x, out), True), (deals, (0, 1, 0, x, hands), True), (assign_row, (x, x), False)]
    uses += [(legal_row, (allocate(STATE, 1)[0], np.zeros(38, np.int8)), False)]
    for kernel, arguments, counts in uses:
        monkeypatch.setitem(KERNELS, kernel.key, kernel)  # and back again
        fresh = Kernel(kernel.py_func, as_python=False)
        assert linking.options(kernel.py_func)["_nrt"] == counts, kernel.key
        if not config.DISABLE_JIT:  # then there is code to look at
            fresh.compiled._cache = NullCache()
            fresh(*arguments)
            (code,) = fresh.compiled.inspect_llvm().values()
            assert ("NRT_" in code) == counts, kernel.key
    spread_row(x, out)
    assert out.tolist() == [[1, 1], [2, 2], [3, 3]]


class Pair(NamedTuple):
    """An answer of two numbers."""

    bid: int
    share: float


def test_kernels_answer_python_numbers_compiled_or_not(uncompiled: None) -> None:
    """What they answer goes into JSON; inside of other kernels a key stays as wide as it is."""
    seen = []

    @row
    def several_row(state: State) -> Pair:
        seen.append(type(state.bid))
        return Pair(state.bid, np.float32(0.5))

    @row
    def nested_row(state: State) -> tuple[Pair, bool, int]:
        return several_row(state), state.bid == 0, next_row(np.uint64(0))

    answer = nested_row(allocate(STATE, 1)[0])
    assert seen == [int]
    assert isinstance(answer[0], Pair)
    assert [type(value) for value in (*answer[0], *answer[1:])] == [int, float, bool, int]
    assert answer == ((0, 0.5), True, 0xE220A8397B1DCDAF)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_call_keeps_the_compiled_form_that_it_has_found() -> None:
    """It is no longer looked for by types; what is found as plain Python is not kept."""

    @row
    def add_row(out: I64, first: int, second: int) -> int:
        out[0] += first + second
        return int(out[0])

    total = np.zeros(1, np.int64)
    call = Call(add_row, total, 2)
    with in_plain_python():
        assert call.run(3) == 5 and "run" not in vars(call)
    with when_compiled():
        assert call.run(4) == 11
    (form,) = add_row.compiled.overloads.values()
    assert vars(call)["run"].func is form.entry_point
    assert [call.run(1), call.run(np.int64(1)), total[0]] == [14, 17, 17]
    plain = Call(divmod, 7)
    assert [plain.run(2), plain.run(2)] == [(3, 1), (3, 1)]


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_call_takes_the_form_of_its_own_types() -> None:
    """Of a kernel that has been compiled for several."""

    @row
    def double_row(x: I64) -> int:
        x[0] *= 2
        return int(x[0])

    arrays = [np.full(1, 3, dtype) for dtype in (np.int64, np.int8, np.int64)]
    calls = [Call(double_row, array) for array in arrays]
    with when_compiled():
        for _ in range(3):
            for call in calls:
                call.run()
    assert [int(array[0]) for array in arrays] == [24, 24, 24]
    forms = [vars(call)["run"].func for call in calls]
    assert len(double_row.compiled.overloads) == 2 and forms[0] is forms[2] is not forms[1]


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_call_that_ran_as_python_takes_no_form_of_others() -> None:
    """Another thread may have the kernel compiled for other arguments while it runs here."""

    @row
    def triple_row(x: I64) -> int:
        x[0] *= 3
        return int(x[0])

    with when_compiled():
        triple_row(np.ones(1, np.int8))
    call = Call(triple_row, np.ones(1, np.int64))
    assert call._direct(triple_row, (), was_compiled=False) is None


@batched
def _square(start: int, stop: int, x: I64, out: I64) -> None:
    for b in range(start, stop):
        out[b] = x[b] * x[b]


@pytest.mark.parametrize("n", [0, 1, 2 * ROWS - 1, 2 * ROWS, 5 * ROWS])
def test_few_rows_and_many_give_the_same(n: int) -> None:
    x = np.arange(n)
    out = np.zeros(n, np.int64)
    _square(x, out)
    np.testing.assert_array_equal(out, x**2)


@pytest.mark.parametrize(("key", "number"), [(0, 0xE220A8397B1DCDAF), (1234567, 6457827717110365317)])
def test_next_is_splitmix64(key: int, number: int) -> None:
    """First outputs of Vigna's splitmix64.c from these states."""
    assert next_row(np.uint64(key)) == number


def test_numbers_stay_in_their_range() -> None:
    least, most = np.uint64(0), np.uint64(2**64 - 1)
    assert [unit_row(least), unit_row(most)] == [0.0, 1.0 - 2.0**-53]
    assert [below_row(key, n) for key in (least, most) for n in (1, 52, 2**32 - 1)] == [0, 0, 0, 0, 51, 2**32 - 2]


@pytest.mark.parametrize("bits", [0, 1, 0b1011, 0x1FFFF, 1 << 51, (1 << 52) - 1, 0x5A5A5A5A5A5A5])
def test_sets_are_counted(bits: int) -> None:
    assert count_row(bits) == bits.bit_count()
    assert lowest_row(bits) == (bits & -bits).bit_length() - 1


def test_every_member_is_picked_as_often_as_another() -> None:
    members, key, found = [0, 3, 17, 51], np.uint64(5), []
    bits = sum(1 << member for member in members)
    for _ in range(8000):
        key = next_row(np.uint64(key))
        found.append(pick_row(bits, np.uint64(key)))
    numbers, counts = np.unique(found, return_counts=True)
    assert numbers.tolist() == members
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(8000 * 3 / 16)


@pytest.mark.parametrize("actions", [1, 38, 63, 64, 90, 127, 200])
@pytest.mark.parametrize("share", [0.03, 0.5, 1.0])
def test_the_nth_legal_action_is_chosen(actions: int, share: float) -> None:
    """Whatever the number of actions, 63 of which are looked at together."""
    legal = (np.random.default_rng(actions).random((20, actions)) < share).astype(np.int8)
    legal[0] = 0
    keys, chosen = np.arange(20, dtype=np.uint64), np.empty(20, np.int64)
    choose(legal, keys, chosen)
    for row_, key, action in zip(legal, keys, chosen, strict=True):
        numbers = np.flatnonzero(row_)
        assert action == (numbers[(int(key) >> 32) * len(numbers) >> 32] if len(numbers) else -1)
    assert keys.tolist() == [int(next_row(np.uint64(key))) for key in range(20)]
