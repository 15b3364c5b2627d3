"""``python -m bidzoo`` is the ``bidzoo`` command."""

from bidzoo.cli import main

main()
