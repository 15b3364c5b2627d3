"""The trainers of ``experiments/train.py``: one algorithm a file, and in ``partners.py`` what two of them share.

The agents and their networks are those of ``bidzoo.agents.bridge``, each in the file of the same name.
"""
