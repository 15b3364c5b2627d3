"""``bidzoo report`` in headless Chromium: the shipped results on a desktop, on a phone and on paper."""

import base64
from pathlib import Path

import pytest

from bidzoo.benchmarks import report

pytestmark = pytest.mark.integration
RESULTS = Path(__file__).parents[2] / "docs" / "results"
FILES = [RESULTS / f"{suite}.json" for suite in ("throughput", "tabular", "spades", "bridge", "bridge-analysis")]


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert report.main(FILES, path) == len(FILES)
    chromium.get(path.as_uri())
    return chromium


def test_everything_is_drawn_and_nothing_is_fetched(page):
    assert len(page.find_elements("css selector", "section")) == len(FILES)
    assert len(page.find_elements("css selector", "table")) > 15
    widths = page.execute_script("return [...document.images].map(image => image.naturalWidth)")
    assert len(widths) > 8
    assert min(widths) > 100
    assert (
        page.execute_script(
            "return performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:')).length"
        )
        == 0
    )
    assert page.get_log("browser") == []


@pytest.mark.parametrize("width", [360, 768, 1360])
def test_only_tables_scroll_sideways(page, width):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_links_lead_to_the_suites(page):
    for link in page.find_elements("css selector", "nav a"):
        target = link.get_attribute("href").partition("#")[2]
        assert page.execute_script("return !!document.getElementById(arguments[0])", target)


def test_it_prints(page):
    pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 50_000
