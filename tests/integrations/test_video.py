"""Gymnasium's recorders of videos, at one table and at several: every picture of a game has one size."""

import gymnasium
import pytest

from bidzoo.registry import GAMES

pytestmark = pytest.mark.integration
ACTIONS = 3


@pytest.fixture
def moviepy():
    return pytest.importorskip("moviepy", reason='no moviepy here: pip install "bidzoo[video]"')


def film(moviepy, path):
    """Width, height and number of pictures of a video."""
    with moviepy.VideoFileClip(str(path)) as clip:
        return *clip.size, round(clip.duration * clip.fps)


@pytest.mark.filterwarnings("ignore")  # moviepy's and imageio's own
@pytest.mark.parametrize("entry", GAMES.values(), ids=GAMES)
def test_one_table(entry, moviepy, tmp_path):
    env = gymnasium.make(entry.gymnasium_id, render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda episode: True, disable_logger=True)
    _, info = env.reset(seed=1)
    frames = 1
    for _ in range(ACTIONS):
        *_, over, _, info = env.step(int(info["action_mask"].argmax()))
        frames += 1
        if over:
            break
    high, wide, _ = env.unwrapped.render().shape
    env.close()
    (path,) = tmp_path.glob("*.mp4")
    assert film(moviepy, path) == (wide, high, frames)


@pytest.mark.filterwarnings("ignore")
def test_several_tables(moviepy, tmp_path):
    envs = gymnasium.make_vec("bidzoo/MiniBridge-v0", 4, render_mode="rgb_array")
    envs = gymnasium.wrappers.vector.RecordVideo(envs, str(tmp_path), episode_trigger=lambda episode: True)
    _, infos = envs.reset(seed=1)
    for _ in range(ACTIONS):
        *_, infos = envs.step(infos["action_mask"].argmax(1))
    high, wide, _ = envs.unwrapped.render()[0].shape
    envs.close()
    sizes = {film(moviepy, path)[:2] for path in tmp_path.glob("*.mp4")}
    assert sizes == {(2 * wide, 2 * high)}
