"""Run what failed once more, alone: a busy machine can be too slow for a test, a fault fails again.

The last lines name every test that passed only the second time.
"""

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(__file__).parents[1] / ".pytest_cache" / "v" / "cache" / "lastfailed"


def main() -> int:
    """Status of the second run, or 1 if the first one did not come as far as to note a test."""
    failed = [*json.loads(FAILED.read_text())] if FAILED.exists() else []
    if not failed:
        return 1
    status = subprocess.run([sys.executable, "-m", "pytest", "--last-failed", "-ra"]).returncode
    left = json.loads(FAILED.read_text()) if FAILED.exists() else {}
    passed = [name for name in failed if name not in left]
    print(f"{len(passed)} tests passed only when they were run again{':' if passed else ''}")
    for name in passed:
        print(f"  {name}")
    return status


if __name__ == "__main__":
    sys.exit(main())
