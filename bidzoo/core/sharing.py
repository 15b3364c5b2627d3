"""A batch shared between threads in compiled code: whoever is free takes the next rows, until none are left.

One block of memory holds a **job**: a kernel, its arguments, and the next row that nobody has taken. Helpers wait in
``serve`` for it, without Python and its lock; a kernel that is called with the address of the block puts itself there.
"""

import platform
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

LINE = 8  # words of a cache line: what one thread writes and another reads lie on lines of their own
GATE, TICKET, SLEEP, STOP, SIZE, SPAN, COUNT, FUNCTION = 0, 1, 2, *range(LINE, LINE + 5)
NEXT = 2 * LINE  # of the first region; of each on a line of its own
REGIONS = 128  # at most
ARGUMENTS = NEXT + REGIONS * LINE
WORDS = ARGUMENTS + 4096  # of a block
APART = 64  # of which a region has a multiple: no two threads write to one cache line of a byte a row
OPEN = 1 << 40  # in the word ``GATE``, beside the number of helpers that are inside
LINGER = 500  # looks for helpers that are inside, some 20 microseconds, before the caller sleeps
NAP = 50  # microseconds or more that it sleeps then

_I64, _I32 = ir.IntType(64), ir.IntType(32)
_X86: tuple[str, list[Any]] = ("llvm.x86.sse2.pause", [])
_ARM = ("llvm.aarch64.hint", [_I32(1)])
_PAUSE = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}.get(platform.machine().lower())


def _word(builder: Any, memory: Any, number: int) -> Any:
    """Pointer to a word of the block at the address ``memory``."""
    return builder.inttoptr(builder.add(memory, _I64(8 * number)), _I64.as_pointer())


def _pause(builder: Any) -> None:
    """Tell the processor that this thread waits."""
    if _PAUSE:
        name, arguments = _PAUSE
        kind = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _taker_type(context: Any) -> Any:
    return context.call_conv.get_function_type(types.none, (types.int64, types.int64))


def _call_taker(context: Any, builder: Any, taker: Any, memory: Any, own: Any) -> None:
    result, problem = (cgutils.alloca_once(builder, kind.pointee) for kind in _taker_type(context).args[:2])
    builder.call(taker, [result, problem, memory, own])


def _make_taker(context: Any, builder: Any, kind: Any, called: Any, arguments: Any) -> Any:
    """A function of a block's address and a region's number: runs a kernel for shares of rows until all are taken.

    It begins in that region, which is likely to be in the cache of a processor that was there in the last job.
    """
    module = builder.module
    taker = ir.Function(module, _taker_type(context), module.get_unique_name("take_shares"))
    taker.linkage = "internal"
    taker.attributes.add("noinline")
    memory, own = taker.args[2:]
    inside = ir.IRBuilder(taker.append_basic_block("entry"))
    place = inside.inttoptr(inside.add(memory, _I64(8 * ARGUMENTS)), context.get_value_type(arguments).as_pointer())
    given = cgutils.unpack_tuple(inside, inside.load(place))
    stop, size, span, count = (inside.load(_word(inside, memory, number)) for number in (STOP, SIZE, SPAN, COUNT))
    with cgutils.for_range(inside, count) as loop:
        region = inside.urem(inside.add(own, loop.index), count)
        following = inside.add(memory, inside.mul(region, _I64(8 * LINE)))
        end = _least(inside, inside.mul(inside.add(region, _I64(1)), span), stop)
        take, run, done = (taker.append_basic_block(name) for name in ("take", "run", "done"))
        inside.branch(take)
        inside.position_at_end(take)
        first = inside.atomic_rmw("add", _word(inside, following, NEXT), size, "seq_cst")
        inside.cbranch(inside.icmp_signed("<", first, end), run, done)
        inside.position_at_end(run)
        function = context.get_function(kind, called)
        function(inside, [first, _least(inside, inside.add(first, size), end), *given])
        context.add_linking_libs(getattr(function, "libs", ()))
        inside.branch(take)
        inside.position_at_end(done)
    inside.ret(_I32(0))
    return taker


def _least(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.icmp_signed("<", x, y), x, y)


@intrinsic  # type: ignore[untyped-decorator]
def share(typing: Any, kernel: Any, start: Any, stop: Any, arguments: Any) -> Any:
    """``kernel(start, stop, *arguments)``; with ``-start`` the address of a block, rows up to ``stop`` in shares."""
    called = kernel.get_call_type(typing, (types.int64, types.int64, *arguments), {})

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        _, start, stop, given = values
        kind = given.type
        if ARGUMENTS * 8 + context.get_abi_sizeof(kind) > WORDS * 8:
            raise TypeError(f"arguments of {kernel}: too many to be shared")
        taker = _make_taker(context, builder, signature.args[0], called, signature.args[3])
        block = cgutils.alloca_once(builder, ir.LiteralStructType([ir.ArrayType(_I64, ARGUMENTS), kind]))
        alone = builder.icmp_signed(">=", start, _I64(0))
        memory = builder.select(alone, builder.ptrtoint(block, _I64), builder.neg(start))
        builder.store(given, builder.inttoptr(builder.add(memory, _I64(8 * ARGUMENTS)), kind.as_pointer()))
        gate = _word(builder, memory, GATE)
        with builder.if_else(alone) as (then, otherwise):
            with then:
                for number, value in ((NEXT, start), (STOP, stop), (SIZE, stop), (SPAN, stop), (COUNT, _I64(1))):
                    builder.store(value, _word(builder, memory, number))
            with otherwise:
                builder.store(builder.ptrtoint(taker, _I64), _word(builder, memory, FUNCTION))
                builder.atomic_rmw("add", _word(builder, memory, TICKET), _I64(1), "seq_cst")
                builder.atomic_rmw("or", gate, _I64(OPEN), "seq_cst")
        _call_taker(context, builder, taker, memory, _I64(0))
        with builder.if_then(builder.not_(alone)):
            builder.atomic_rmw("and", gate, _I64(OPEN - 1), "seq_cst")
            _let_out(builder, memory)
        return context.get_dummy_value()

    return types.void(kernel, types.int64, types.int64, arguments), code


def _let_out(builder: Any, memory: Any) -> None:
    """Wait for helpers who have not ended their last share: they use the arguments, which Python may free after it."""
    gate, sleep = _word(builder, memory, GATE), builder.load(_word(builder, memory, SLEEP))
    wait, ask, nap, out = (builder.append_basic_block(name) for name in ("wait", "ask", "nap", "out"))
    looks = cgutils.alloca_once_value(builder, _I64(0))
    builder.branch(wait)
    builder.position_at_end(wait)
    is_empty = builder.icmp_signed("==", builder.load_atomic(gate, "seq_cst", 8), _I64(0))
    builder.cbranch(is_empty, out, ask)
    builder.position_at_end(ask)
    _pause(builder)
    builder.store(builder.add(builder.load(looks), _I64(1)), looks)
    builder.cbranch(builder.icmp_signed("<", builder.load(looks), _I64(LINGER)), wait, nap)
    builder.position_at_end(nap)
    builder.call(builder.inttoptr(sleep, ir.FunctionType(_I32, [_I32]).as_pointer()), [_I32(NAP)])
    builder.branch(wait)
    builder.position_at_end(out)


@intrinsic  # type: ignore[untyped-decorator]
def _help(_: Any, memory: Any, own: Any, ticket: Any) -> Any:
    """Take shares of the job in the block at ``memory`` unless it bears ``ticket``; the ticket of the last job seen."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        memory, own, ticket = values
        gate = _word(builder, memory, GATE)
        seen = cgutils.alloca_once_value(builder, ticket)
        is_open = builder.icmp_signed(">=", builder.load_atomic(gate, "seq_cst", 8), _I64(OPEN))
        current = builder.load_atomic(_word(builder, memory, TICKET), "seq_cst", 8)
        with builder.if_else(builder.and_(is_open, builder.icmp_signed("!=", current, ticket))) as (then, otherwise):
            with then:
                entered = builder.atomic_rmw("add", gate, _I64(1), "seq_cst")
                with builder.if_then(builder.icmp_signed(">=", entered, _I64(OPEN))):
                    builder.store(builder.load(_word(builder, memory, TICKET)), seen)
                    function = builder.load(_word(builder, memory, FUNCTION))
                    taker = builder.inttoptr(function, _taker_type(context).as_pointer())
                    _call_taker(context, builder, taker, memory, own)
                builder.atomic_rmw("sub", gate, _I64(1), "seq_cst")
            with otherwise:
                _pause(builder)
        return builder.load(seen)

    return types.int64(memory, own, ticket), code


def serve(memory: int, own: int, looks: int) -> None:
    """Help with the jobs in the block at the address ``memory`` until ``looks`` one after the other found none.

    Only compiled (``threads.serving``). ``own``: the region to begin with.
    """
    ticket, found_none = 0, 0
    while found_none < looks:
        known, ticket = ticket, _help(memory, own, ticket)
        found_none = 0 if ticket != known else found_none + 1


def plan(rows: int, threads: int, share: int) -> NDArray[np.int64]:
    """The words of a block from ``STOP`` on, for ``rows`` in shares, in a region for each of ``threads``."""
    count = min(threads, REGIONS)
    span = -(-rows // (count * APART)) * APART
    words = np.zeros(NEXT + count * LINE, np.int64)
    words[[STOP, SIZE, SPAN, COUNT]] = rows, share, span, count
    words[NEXT::LINE] = np.arange(count) * span
    return words[STOP:]


def shared(function: Callable[..., None], kernel: Any) -> Callable[..., None]:
    """``function(start, stop, ...)``, a batched kernel, in a form whose rows threads can share; see ``share``."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    scope = {"share": share, "kernel": kernel, "__name__": function.__module__}
    text = f"def {function.__name__}({', '.join(names)}): share(kernel, start, stop, ({', '.join(names[2:])},))"
    exec(text, scope)  # with ``*arguments`` numba takes 0.3 microseconds longer to look at their types, each call
    return scope[function.__name__]  # type: ignore[no-any-return]
