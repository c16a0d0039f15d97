"""Looks at reports and at a served folder in a browser: nothing is loaded from elsewhere, no error is told, keys move in the map, rows are shown,
nothing is inaccessible.

    python .ci/report/browser.py MARQUETRY [--shots FOLDER] [--quick]

Chromium is on the PATH (Debian's package `chromium`); `playwright`, `axe-playwright-python` and `pyarrow` are from PyPI.
"""

import argparse
import pathlib
import shutil
import subprocess
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = "<img src=x onerror=alert(1)>\"'&\u202e</script>"


def make(folder, quick):
    """Files that are wide, have many pages, bad names, or are damaged; each with arguments of its own."""
    wines = ROOT / "examples/wines.parquet"
    if quick:
        return {"wines": [str(wines), "--where", "country = 'FR' and price > 100", "--verify", "deep"]}
    wide = pa.table({f"column_{i:05}": pa.array(range(i, i + 20)) for i in range(10_000)})
    pq.write_table(wide, folder / "wide.parquet", row_group_size=5)
    many = pa.table({f"c{i}": pa.array([(row * 7919 + i) % 1_000_003 for row in range(500_000)]) for i in range(10)})
    pq.write_table(
        many, folder / "many_pages.parquet", use_dictionary=False, data_page_size=300, write_batch_size=50, write_page_index=True
    )
    pq.write_table(pa.table({HOSTILE: [HOSTILE, "b"], "x": [1, 2]}), folder / "names.parquet", row_group_size=1)
    damaged = bytearray(wines.read_bytes())
    damaged[1200:1203] = b"\xff\xff\xff"
    (folder / "damaged.parquet").write_bytes(damaged)
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), folder / "no_rows.parquet")
    many_files = [str(wines), str(folder / "no_rows.parquet")]
    return {
        "wines": [str(wines), "--where", "country = 'FR' and price > 100", "--verify", "deep"],
        "wide": [str(folder / "wide.parquet")],
        "many_pages": [str(folder / "many_pages.parquet"), "--where", "c3 < 10"],
        "names": [str(folder / "names.parquet")],
        "damaged": [str(folder / "damaged.parquet"), "--verify", "deep"],
        "several": many_files,
    }


def look(browser, name, html, shots):
    said, requests = [], []
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(html.as_uri())
    page.wait_for_selector("html[data-drawn=all]", timeout=60_000)
    paint = page.evaluate("performance.getEntriesByName('first-paint')[0].startTime")
    assert paint < 1000, f"{name}: first paint after {paint} ms"
    assert page.locator("article .drawn section").count() >= 3, f"{name}: nothing was drawn"
    # A blank canvas has one colour only.
    drawn = page.evaluate(
        """() => [...document.querySelectorAll('canvas.map')].map((canvas) => new Set(new Uint32Array(
            canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)"""
    )
    assert all(colours > 2 for colours in drawn), f"{name}: maps of {drawn} colours"

    # From the file to a page by keys alone, and back.
    page.locator("canvas.map").first.focus()
    status = page.locator("[role=status]").first
    seen = [status.text_content()]
    for key in ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown", "Enter", "ArrowRight", "End", "Home", "+", "-", "0", "ArrowUp"]:
        page.keyboard.press(key)
        seen.append(status.text_content())
    assert len(set(seen)) > 3, f"{name}: keys do not move: {seen}"
    for finding in page.locator("li[data-offset] button").all():
        finding.click()
        assert "page" in status.text_content(), f"{name}: {status.text_content()}"
    select = page.locator(".tools select").first
    for meaning in select.locator("option").all_text_contents():
        select.select_option(meaning)
    page.locator("canvas.matrix").first.click(position={"x": 5, "y": 3})
    first = page.locator("table.columns tbody th").first.text_content()
    page.locator("input[type=search]").first.fill("no such column")
    assert page.locator("article").first.locator("table.columns tbody tr").count() == 0
    page.locator("input[type=search]").first.fill("")
    assert page.locator("table.columns tbody th").first.text_content() == first

    check_access(page, name, shots)
    page.emulate_media(media="print")
    page.wait_for_timeout(200)
    page.emulate_media(media="screen", forced_colors="active")
    page.wait_for_timeout(200)
    assert not said, f"{name}: {said}"
    assert requests == [html.as_uri()], f"{name}: {requests}"
    page.close()
    return paint


def check_access(page, name, shots):
    """In light and dark there is nothing that axe calls serious."""
    for scheme in ["light", "dark"]:
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(200)
        response = Axe().run(page).response
        assert len(response["passes"]) > 10, f"{name}: axe has looked at nothing"
        found = response["violations"]
        serious = [(rule["id"], [node["html"][:120] for node in rule["nodes"][:2]]) for rule in found if rule["impact"] in ("serious", "critical")]
        assert not serious, f"{name}, {scheme}: {serious}"
        if shots:
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=shots / f"{name}-{scheme}.png")


def look_at_site(browser, marquetry, folder, shots):
    """A folder that is served: from the listing to rows and a report, and a search."""
    site = folder / "site"
    (site / "below").mkdir(parents=True)
    shutil.copy(ROOT / "examples/wines.parquet", site / "below/wines & more.parquet")
    values = pa.table({HOSTILE: [HOSTILE, None], "large": [9007199254740993, 2]})
    pq.write_table(values, site / "names.parquet")
    server = subprocess.Popen([marquetry, "serve", str(site)], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        said, requests = [], []
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(url)
        check_access(page, "site-listing", shots)
        page.get_by_role("link", name="names.parquet", exact=True).click()
        page.wait_for_selector("html[data-drawn=all]")
        page.get_by_role("link", name="Values").click()
        page.wait_for_selector("table[data-shown='0']")
        # As it is, and not as the nearest double.
        assert page.locator("td", has_text="9007199254740993").count() == 1
        assert page.locator("td.null").count() == 1
        page.get_by_role("link", name="The folder").click()
        page.get_by_role("searchbox").fill("grapes")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("link", name="values of below/wines & more.parquet").click()
        page.wait_for_selector("table[data-shown='0']")
        assert page.locator("tbody tr").count() == 50
        page.get_by_role("button", name="Later").click()
        page.wait_for_selector("table[data-shown='50']")
        page.locator("#columns").fill("name,year")
        page.locator("#first").fill("150")
        page.get_by_role("button", name="Show").click()
        page.wait_for_selector("table[data-shown='150']")
        assert page.locator("thead th").count() == 3
        assert "Nebbiolo Reserve No. 151" in page.locator("tbody tr").first.text_content()
        check_access(page, "site-rows", shots)
        page.locator("#columns").fill("no such column")
        page.get_by_role("button", name="Show").click()
        page.locator("#status", has_text="not read").wait_for()
        # What was refused is told by the browser, too.
        assert all("400" in message for message in said) and len(said) == 1, said
        assert all(request.startswith(url) for request in requests), requests
        page.close()
        print("site: listing, search, report and rows")
    finally:
        server.kill()
        server.wait()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("marquetry")
    arguments.add_argument("--shots", type=pathlib.Path)
    arguments.add_argument("--quick", action="store_true", help="one report only, and the site")
    arguments = arguments.parse_args()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium")
    assert chromium, "chromium is not on the PATH"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        folder = pathlib.Path(folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--force-color-profile=srgb"])
        for name, options in make(folder, arguments.quick).items():
            html = folder / f"{name}.html"
            subprocess.run([arguments.marquetry, "report", *options, "-o", str(html)], check=True)
            size = html.stat().st_size
            assert size < 5_000_000, f"{name}: {size} bytes"
            paint = look(browser, name, html, arguments.shots)
            print(f"{name}: {size:,} bytes, first paint after {paint:.0f} ms")
        look_at_site(browser, arguments.marquetry, folder, arguments.shots)
        browser.close()


main()
