"""Record the golden digests again: ``python tests/golden/record.py [words]``.

Runs all cases, or those whose ``file/case/`` contains one of the words, prints what changed and writes ``golden.json``.
Of some cases alone the file goes on naming the machine that recorded all. ``--times`` prints the processor time of each
case too.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("BIDZOO_COMPILE", "now")
sys.path.append(str(Path(__file__).parents[2] / "experiments"))  # as pytest has it

import conftest  # the folder of a script is the first place where Python looks


def main(words):
    times = "--times" in words
    words = [word for word in words if not word.startswith("--")]
    recorded, digests, fields, began = conftest.load(), {}, {}, time.process_time()
    known, known_fields = recorded["cases"], recorded["fields"]
    for path in sorted(conftest.FILE.parent.glob("test_*.py")):
        file = path.stem.removeprefix("test_")
        for name, case in importlib.import_module(path.stem).CASES.items():
            stem = f"{file}/{name}/"
            if words and not any(word in stem for word in words):
                digests |= {key: value for key, value in known.items() if key.startswith(stem)}
                fields |= {key: names for key, names in known_fields.items() if key.startswith(stem)}
                continue
            start = time.process_time()
            parts = case()
            digests |= {f"{stem}{part}": digest for part, digest in conftest.digests(parts).items()}
            fields |= {f"{stem}{part}": names for part in parts if (names := conftest.field_names(parts[part]))}
            if times:
                print(f"{time.process_time() - start:7.2f} s  {stem}", flush=True)
    for key in sorted(known.keys() | digests.keys()):
        before, now = (cases.get(key, "").split(" ")[0] for cases in (known, digests))
        if before != now:
            print(f"{key}: {before or 'new'} -> {now or 'gone'}")
    machine = recorded["machine"] if words else conftest.machine()
    document = {"machine": machine, "cases": digests, "fields": fields}
    conftest.FILE.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{len(digests)} digests, {time.process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main(sys.argv[1:])
