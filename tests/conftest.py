"""Arithmetic slips are errors in every test, compiled or not; waiting threads sleep (CI machines are shared)."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np

np.seterr(all="raise", under="ignore")
