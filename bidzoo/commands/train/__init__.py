"""``bidzoo train``: one command a stage. Stopped at any moment, the same command goes on where it was."""

import typer

from bidzoo.commands.train import double_dummy, recorded, selfplay, spades

app = typer.Typer(no_args_is_help=True, help="Train the agents that learn.")

app.command("record")(recorded.record)
app.command("sl")(recorded.sl)
app.command("belief")(recorded.belief)
app.command("measure")(recorded.measure)
app.command("ppo")(selfplay.ppo)
app.command("rl")(selfplay.rl)
app.command("a2c")(selfplay.a2c)
app.command("jps")(selfplay.jps)
app.command("evaluator")(double_dummy.evaluator)
app.command("measure-evaluator")(double_dummy.measure_evaluator)
app.command("success-curves")(spades.success_curves)
app.command("spades-bidder")(spades.spades_bidder)
