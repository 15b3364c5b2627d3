"""What is to happen as soon as somebody imports another package, which takes longer than ours."""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


def when_imported(name: str, then: Callable[[], None]) -> None:
    """Call ``then`` after the package ``name`` has been imported: now, if it has been."""
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, _Waiting(name, then))


class _Waiting(MetaPathFinder):
    """Finds ``name`` where the others find it, and has ``then`` called after its code."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name, self._then, self._asks = name, then, False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name or self._asks:
            return None
        self._asks = True
        try:
            spec = find_spec(fullname)
        finally:
            self._asks = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_tell(module: ModuleType) -> None:
                execute(module)
                if self in sys.meta_path:  # it may have been looked for several times
                    sys.meta_path.remove(self)
                    self._then()

            spec.loader.exec_module = execute_and_tell  # type: ignore[method-assign]
        return spec
