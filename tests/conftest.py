"""Arithmetic slips are errors in every test, compiled or not."""

import os

os.environ.setdefault(
    "BIDZOO_COMPILE", "now"
)  # what is tested is the compiled form; tests/test_compiling.py does not wait

import numpy as np

np.seterr(all="raise", under="ignore")
