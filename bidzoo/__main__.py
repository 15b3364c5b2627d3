"""``python -m bidzoo`` is the ``bidzoo`` command."""

from bidzoo.cli.main import main

main()
