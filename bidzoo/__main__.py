"""``python -m bidzoo`` is the ``bidzoo`` command."""

import os
import signal
from typing import NoReturn


def main() -> None:
    """Import the commands, while Ctrl-C ends the process at once, and run the one that is asked for."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not of a background job, which does not hear it
        signal.signal(signal.SIGINT, _stop)
    from bidzoo.cli.main import main as run

    signal.signal(signal.SIGINT, handler)
    run()


def _stop(*_: object) -> NoReturn:
    os.write(2, b"\nbidzoo: stopped; nothing is kept\n")
    os._exit(130)


if __name__ == "__main__":
    main()
