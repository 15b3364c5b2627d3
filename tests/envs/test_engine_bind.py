"""What ``bind`` asks of a game."""

import pytest

from bidzoo.envs import engine
from bidzoo.envs.bridge import engine as bridge


@pytest.mark.parametrize("name", engine.NEEDED)
def test_a_kernel_that_a_game_forgot_is_named(name):
    given = {key: value for key, value in vars(bridge).items() if key != name}
    with pytest.raises(ValueError, match=rf"game 'half': my.engine has no kernel {name}\(state"):
        engine.bind("half", "my.engine", given)
