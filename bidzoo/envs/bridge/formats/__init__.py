"""Formats of files of boards, by their ending: modules with ``loads``, ``read``, ``dumps`` and ``write``."""

from bidzoo.envs.bridge.formats import lin, pbn

FORMATS = {".pbn": pbn, ".lin": lin}
