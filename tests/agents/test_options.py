"""Wrong values are refused where an agent is made, by its class as by its name; nothing is found out at the table."""

import shutil
from pathlib import Path

import pytest

from bidzoo import agents
from bidzoo.agents.bridge.bmcs import Bmcs, Solver
from bidzoo.agents.bridge.expert import Expert
from bidzoo.agents.bridge.network import NetworkPolicy
from bidzoo.agents.bridge.partners import PartnerPolicy
from bidzoo.agents.spades.policy import SpadesPolicy, bis, learned, learned_search, ms, rb, uct


@pytest.mark.parametrize(
    ("maker", "options", "words"),
    [
        (Bmcs, {"workers": 0}, "workers 0: expected an integer from 1"),
        (Bmcs, {"belief": "x"}, "no packaged weights 'x'; choose from a2c-bridge"),
        (Bmcs, {"belief": 5}, "belief 5: expected a text"),
        (Bmcs, {"evaluator": 5}, "evaluator 5: expected 'network' or 'solver'"),
        (Solver, {"workers": 0}, "workers 0: expected an integer from 1"),
        (NetworkPolicy, {"weights": 5}, "weights 5: expected a text or a path"),
        (NetworkPolicy, {"weights": "sl", "name": 5}, "name 5: expected a text or None"),
        (PartnerPolicy, {"temperature": -1}, "temperature -1: expected a number from 0"),
        (Expert, {"overbid": 11}, "overbid 11: expected an integer from 0 to 10"),
        (SpadesPolicy, {"bidder": 5}, "bidder 5: expected 'bis' or"),
        (SpadesPolicy, {"lookup": 5}, "lookup 5: expected a record"),
        (bis, {"player": 5}, "player 5: expected 'srp' or"),
        (uct, {"last": 14}, "last 14: expected an integer from 0 to 13"),
        (rb, {"nil_limits": (7, 11)}, r"nil_limits \(7, 11\): expected a tuple of length 3"),
        (ms, {"nil_limits": (5, 8, 15)}, r"nil_limits \(5, 8, 15\): .* each an integer from 0 to 14"),
        (learned, {"worlds": -1}, "worlds -1: expected an integer from 0"),
        (learned_search, {"worlds": 0}, "worlds 0: expected an integer from 1"),
    ],
)
def test_wrong_values_are_refused(maker, options, words):
    with pytest.raises(ValueError, match=words):
        maker(**options)


def test_files_that_are_not_there_are_named_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"w\.safetensors: no such file of weights"):
        agents.make("sl", weights=tmp_path / "w.safetensors")


def test_a_file_is_a_path_too_whatever_folder_it_is_in(tmp_path):
    file = Path("seed=1", "net.safetensors")
    file.parent.mkdir()
    shutil.copy(agents.DATA / "bridge" / "sl-small.safetensors", file)
    for given in (file, str(file), f"mine={file}", tmp_path / file):
        policy = agents.make(given)
        assert policy.name == ("mine" if str(given).startswith("mine=") else "net")
        assert agents.resolve(given, "bridge_bidding_v0").name == policy.name


def test_a_bidder_that_is_named_has_a_card_player_in_whole_bridge():
    assert repr(agents.resolve("sayc", "bridge_v0")) == "<sayc: <sayc: natural rules> and cards from 12 deals>"
    assert agents.resolve("mine=sl(temperature=0.5)", "bridge_v0").name == "mine"
    assert agents.resolve("random", "bridge_v0") is not None
    with pytest.raises(ValueError, match="agent 'bis' does not play bridge_v0"):
        agents.resolve("bis", "bridge_v0")


def test_a_text_sets_options_as_make_does():
    text = "bmcs(policy=rl, deals=uniform, r_max=50)"
    policy = agents.make(text)
    assert policy.name == text
    twin = agents.make("bmcs", policy="rl", deals="uniform", r_max=50)
    assert (policy.options, policy.policy.name) == (twin.options, "rl")
    assert agents.make(f"mine={text}").name == "mine"
    assert agents.make("sl(temperature=1.5)").temperature == 1.5
    assert agents.make("rb(player=wrp, nil_limits=(7, 11, 12))").bidder.nil_limits == (7, 11, 12)
    assert agents.games_of(text) == agents.games_of("bmcs")


def test_wrong_options_in_a_text_are_named():
    with pytest.raises(TypeError, match=r"agent 'bmcs' has no option 'polcy'; did you mean 'policy'"):
        agents.make("bmcs(polcy=rl)")
    with pytest.raises(ValueError, match="'uniform' is no option, expected NAME=VALUE"):
        agents.make("bmcs(policy=rl, uniform)")
    with pytest.raises(KeyError, match="unknown agent"):
        agents.make("bmcs(rl)")
    with pytest.raises(ValueError, match=r"'bmcs\(policy=rl': its brackets do not match"):
        agents.make("bmcs(policy=rl")


def test_a_text_may_be_longer_than_the_name_of_a_file():
    name = "x" * 300
    assert agents.make(f"sl(weights=sl, name={name})").name.endswith(f"name={name})")
    with pytest.raises(ValueError, match="its brackets do not match"):
        agents.make(f"sl(weights=sl, name={name}")


def test_agents_with_options_stand_among_others_with_commas():
    assert agents.names_in("a2c(hidden=[20,20]), bad(seed=1)") == ["a2c(hidden=[20,20])", "bad(seed=1)"]
    assert agents.parts("a2c(hidden=[20,20], seed=1)")[2] == {"hidden": [20, 20], "seed": 1}
    assert agents.names_in("rl, bmcs(policy=rl, r_max=50),sayc") == ["rl", "bmcs(policy=rl, r_max=50)", "sayc"]
    limits = "rb(player=wrp, nil_limits=(7, 11, 12))"
    assert agents.names_in(f"ms,{limits}, {limits},io") == ["ms", limits, limits, "io"]


def test_options_may_name_other_code_so_they_are_not_own():
    assert agents.is_own("mine=bmcs")
    assert not agents.is_own("bmcs(policy=package.module:Name)")
