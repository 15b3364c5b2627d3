"""Digests of code: of all that is imported, and of nothing that changes no result."""

from bidzoo.core import digests


def test_a_digest_of_sources_sees_what_is_imported_and_no_comment(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "digested"
    package.mkdir()
    files = {
        "__init__": "",
        "top": '"""Doc."""\n\n\ndef f():\n    from . import below\n    return below.g()\n',
        "below": "from digested.deep import VALUE\nfrom digested_beside.it import X\n\n\ndef g():\n    return VALUE\n",
        "deep": "VALUE = 1\n",
        "beside": "import json\n",
    }

    (tmp_path / "digested_beside").mkdir()
    (tmp_path / "digested_beside" / "__init__.py").write_text("1 / 0  # nobody imports it to know what it has\n")

    def digest(**changes):
        for name, text in {**files, **changes}.items():
            (package / f"{name}.py").write_text(text, "utf-8")
        digests._source.cache_clear()
        return digests.source_digest("digested.top")

    first = digest()
    assert first == digest() == digest(beside="VALUE = 3\n")
    assert first == digest(
        top=files["top"].replace("Doc.", "Other words.").replace("import below", "import below  # so")
    )
    assert len({first, digest(deep="VALUE = 2\n"), digest(below=files["below"].replace("return", "return -"))}) == 3
    digests._source.cache_clear()
    everything = digests.source_digest("bidzoo.agents.tabular.bad")
    assert everything != digests.source_digest("bidzoo.agents.tabular.a2c")
