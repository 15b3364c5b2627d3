"""``LANES`` float32 numbers of a kernel at once, held in registers: numba has no words for them, LLVM has.

Each number is computed by itself and ``fma`` rounds once (IEEE 754), so no result depends on ``LANES`` or the machine.
(A processor without that instruction, from before 2013, takes many times as long.)
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, types
from numba.core.cgutils import get_or_insert_function
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic, models, register_model

from bidzoo.kernels import F32

LANES = 64 if "+avx512f" in (config.CPU_FEATURES or get_host_cpu_features()) else 16  # four sums fit in the registers
Vector = Any

if TYPE_CHECKING or config.DISABLE_JIT:

    def load(array: F32, at: int) -> Vector:
        """The numbers of a contiguous ``array`` from ``at`` on."""
        return array[at : at + LANES].copy()

    def fma(a: np.float32, x: Vector, y: Vector) -> Vector:
        """``a * x + y``."""
        return (a * x.astype(np.float64) + y).astype(np.float32)

    def store(x: Vector, array: F32, at: int) -> None:
        """Into a contiguous ``array`` from ``at`` on."""
        array[at : at + LANES] = x

else:
    _LLVM = ir.VectorType(ir.FloatType(), LANES)
    _ZEROS = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)

    class VectorType(types.Type):
        """What numba calls it."""

    _vector = VectorType(f"float32 x {LANES}")

    @register_model(VectorType)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, _LLVM)

    def _place(context, builder, kind, array, at):
        data = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [at]), _LLVM.as_pointer())

    @intrinsic
    def load(_, array, at):
        def code(context, builder, signature, values):
            return builder.load(_place(context, builder, signature.args[0], *values), align=4)

        return _vector(array, types.intp), code

    @intrinsic
    def fma(_, a, x, y):
        def code(context, builder, signature, values):
            one = builder.insert_element(ir.Constant(_LLVM, ir.Undefined), values[0], ir.IntType(32)(0))
            all_lanes = builder.shuffle_vector(one, one, _ZEROS)
            kind = ir.FunctionType(_LLVM, [_LLVM] * 3)
            function = get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")
            return builder.call(function, [all_lanes, *values[1:]])

        return _vector(types.float32, _vector, _vector), code

    @intrinsic
    def store(_, x, array, at):
        def code(context, builder, signature, values):
            builder.store(values[0], _place(context, builder, signature.args[1], *values[1:]), align=4)
            return context.get_dummy_value()

        return types.void(_vector, array, types.intp), code
