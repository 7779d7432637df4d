#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""report_test.py GRANARY_SIMULATE GRANARY_LU WORK_FOLDER: the report of a small run, opened in a headless browser, has the
values of the run's summary, draws its figures, reacts to the keyboard, loads nothing external, and shows when it is damaged.
Without a browser only the other tests run, and the exit status is 77."""
import base64
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
BROWSER = next((path for path in map(shutil.which, BROWSERS) if path), None)

# Runs after the page's own script: reads the canvases, and tests the keyboard.
PROBE = """
<script>
const colours = (id) => {
  const canvas = document.getElementById(id);
  const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(pixels).size;
};
const press = (key) => {
  document.getElementById("timeline").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  return document.getElementById("status").textContent;
};
// At once, so that the browser's dump waits for it; the page itself draws with the next frame.
draw_order();
const colours_of = (list) => [...list].map((text) => text.toLowerCase());
const found = { palettes: [palette, Object.values(colour_of_kind), viridis, memory_colours].map(colours_of), timeline: colours("timeline"), matrix: colours("matrix"), first: press("."), second: press("."), down: press("ArrowDown") };
press("+");
draw_timeline();
found.zoomed = document.getElementById("range").textContent;
const box = document.getElementById("timeline").getBoundingClientRect();
const chosen_row = view.rows[view.chosen];
document.getElementById("timeline").dispatchEvent(
  new PointerEvent("pointermove", { clientX: box.left + 400, clientY: box.top + chosen_row.top + chosen_row.height / 2 }));
found.tooltip = document.getElementById("tooltip").textContent;
document.body.dataset.probe = JSON.stringify(found);
</script>
"""


# The same on the page of several processes: opens the second one in the timeline, and sorts the table.
PROBE_OF_PROCESSES = """
<script>
const key = (key) => document.getElementById("timeline").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const kinds_of_rows = () => view.rows.filter((row) => !["title", "bytes", "flops"].includes(row.kind)).map((row) => row.kind).slice(0, 4);
draw_order();
const found = { before: kinds_of_rows() };
key("ArrowDown");
key("Enter");
draw_timeline();
found.after = kinds_of_rows();
found.status = document.getElementById("status").textContent;
const box = document.getElementById("timeline").getBoundingClientRect();
const middle = { clientX: box.left + 500, clientY: box.top + view.rows[view.chosen].top + 2, pointerId: 1 };
document.getElementById("timeline").dispatchEvent(new PointerEvent("pointermove", middle));
found.tooltip = document.getElementById("tooltip").textContent;
document.getElementById("timeline").setPointerCapture = () => {};
for (const name of ["pointerdown", "pointerup"]) document.getElementById("timeline").dispatchEvent(new PointerEvent(name, middle));
found.again = kinds_of_rows();
found.places = [...document.getElementById("order-workers").options].map((option) => option.text);
const heads = [...document.getElementById("t-processes").tHead.rows[0].cells];
heads.find((head) => head.textContent === "received").querySelector("button").click();
found.sorted = [...document.getElementById("t-processes").tBodies[0].rows].map((row) => row.cells[0].textContent);
heads[0].querySelector("button").click();
document.body.dataset.probe = JSON.stringify(found);
</script>
"""


class Page(html.parser.HTMLParser):
    """The body's data attributes, and the data-value of each cell by table and row."""

    def __init__(self, text):
        super().__init__()
        self.body, self.tables, self.keys, self._rows, self._cell = {}, {}, {}, None, False
        self.legends = {name: re.sub("<[^>]*>", " ", found) for name, found in re.findall(r'<ul id="([^"]*)"[^>]*>(.*?)</ul>', text, re.S)}
        self.columns = re.findall(r'<div class="bar shares head"[^>]*>(.*?)</div>', text)
        self.paragraphs = [html.unescape(re.sub("<[^>]*>", "", found)) for found in re.findall(r'<p[^>]*class="(?:verdict|warning)"[^>]*>(.*?)</p>', text)]
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "body":
            self.body = attributes
        elif tag == "table":
            self._rows, self._keys = self.tables.setdefault(attributes["id"], []), self.keys.setdefault(attributes["id"], {})
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
            self._keys[attributes.get("data-key")] = self._rows[-1]
        elif tag == "td":
            self._rows[-1].append(float(attributes["data-value"]) if "data-value" in attributes else "")
            self._cell = True

    def handle_endtag(self, tag):
        if tag == "td":
            self._cell = False
        if tag == "table":
            self.tables = {name: [row for row in rows if row] for name, rows in self.tables.items()}
            self._rows = None

    def handle_data(self, data):
        if self._cell and isinstance(self._rows[-1][-1], str):
            self._rows[-1][-1] += data


def opened(path):
    """The page in the browser after its scripts have run."""
    profile = path.parent / "profile"
    run = subprocess.run([BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1400,1000",
                          f"--user-data-dir={profile}", "--dump-dom", path.resolve().as_uri()],
                         capture_output=True, text=True, timeout=240, check=False)
    if "</html>" not in run.stdout:
        raise AssertionError(f"{BROWSER} gave no page (status {run.returncode}): {run.stderr[-2000:]}")
    return Page(run.stdout)


class WithReport(unittest.TestCase):
    """A small simulated run's page as text, and its summary."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(FOLDER) / cls.__name__
        shutil.rmtree(cls.folder, ignore_errors=True)
        cls.folder.mkdir(parents=True)
        cls.path, summary_file = cls.folder / "run.html", cls.folder / "run.json"
        subprocess.run([PROGRAM, "--platform", "v100x2", "--algorithm", "lu", "--tiles", "10", "--tile", "960", "--memory", "0.3",
                        "--report", cls.path, "--json", summary_file], check=True, capture_output=True)
        cls.text = cls.path.read_text(encoding="utf-8")
        cls.summary = json.loads(summary_file.read_text(encoding="utf-8"))[0]


class AsText(WithReport):
    def test_refers_to_nothing_outside(self):
        self.assertEqual(re.findall(r"\b(?:https?:|src=|href=|url\(|@import|fetch\(|XMLHttpRequest)", self.text), [])

    def test_says_one_sentence_without_javascript(self):
        sentence = re.search(r"<noscript>(.*)</noscript>", self.text).group(1)
        self.assertRegex(sentence, r"^This report draws its figures with JavaScript, .*\.$")

    def refused(self, *arguments):
        run = subprocess.run([PROGRAM, "--platform", "v100x2", "--tiles", "4", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2, run.stderr)
        return run.stderr

    def test_refuses(self):
        self.assertIn("the report 'x.htm' is an HTML page: its name must end with .html", self.refused("--report", "x.htm"))
        self.assertIn("--report needs a single run, but 2 were requested",
                      self.refused("--scheduler", "eager,darts", "--report", str(self.folder / "x.html")))


@unittest.skipIf(BROWSER is None, "there is no browser")
class InABrowser(WithReport):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        probed = cls.folder / "probed.html"
        probed.write_text(cls.text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
        cls.page = opened(probed)

    def test_no_errors(self):
        self.assertEqual((self.page.body["data-state"], self.page.body["data-errors"]), ("ready", "0"))

    def test_totals_are_those_of_the_run(self):
        tables = self.page.tables
        self.assertEqual(sum(row[1] for row in tables["t-codelets"]), self.summary["tasks"])
        self.assertEqual(sum(row[1] for row in tables["t-workers"]), self.summary["tasks"])
        self.assertEqual(sum(row[3] for row in tables["t-nodes"]), self.summary["evictions"])
        self.assertEqual({row[0]: row[1:3] for row in tables["t-links"]},
                         {f"{link['from']} → {link['to']}": [link["transfers"], link["bytes"]] for link in self.summary["links"]})
        time = self.page.keys["t-totals"]["seconds"][1]
        self.assertAlmostEqual(time, self.summary["seconds"], places=9)
        for row in tables["t-workers"]:
            self.assertAlmostEqual(row[3] + row[4] + row[5] + row[6], 1e9 * time, delta=1)
        idle = sum(row[5] + row[6] for row in tables["t-workers"])
        self.assertAlmostEqual(idle / 1e9, self.summary["idle_seconds"], places=6)
        for row in tables["t-workers"]:
            self.assertTrue(0 <= row[7] <= row[6] + 1, row)

    def test_says_what_limits_the_run(self):
        rows = self.page.tables["t-workers"]
        time = 1e9 * len(rows) * self.summary["seconds"]
        shares = {"Workers were in tasks": sum(row[3] for row in rows), "Workers waited": sum(row[5] for row in rows),
                  "Workers had no ready task": sum(row[6] - row[7] for row in rows), "Workers had nothing left": sum(row[7] for row in rows)}
        busy = shares["Workers were in tasks"]
        if busy < 0.75 * time:
            del shares["Workers were in tasks"]
        decides = max(shares, key=shares.get)
        sentence = self.page.paragraphs[0]
        self.assertTrue(sentence.startswith(decides), f"{sentence} {shares}")
        self.assertIn(f" {100 * shares[decides] / time:.0f} % of the time", sentence)

    def test_sets_another_run_beside(self):
        other, summary_file = self.folder / "other.html", self.folder / "other.json"
        subprocess.run([PROGRAM, "--platform", "v100x2", "--algorithm", "lu", "--tiles", "10", "--tile", "960", "--memory", "0.3", "--scheduler", "eager",
                        "--report", other, "--json", summary_file, "--force"], check=True, capture_output=True)
        summary = json.loads(summary_file.read_text(encoding="utf-8"))[0]
        text = json.dumps(other.read_text(encoding="utf-8")).replace("<", "\\u003c")
        beside = self.folder / "beside.html"
        beside.write_text(self.text.replace("</body>", f"<script>compare({text});</script></body>"), encoding="utf-8")
        page = opened(beside)
        self.assertEqual((page.body["data-state"], page.body["data-errors"]), ("ready", "0"))
        rows = {row[0]: row[1:] for row in page.tables["t-comparison"]}
        self.assertAlmostEqual(rows["time"][0] / 1e9, self.summary["seconds"], places=9)
        self.assertAlmostEqual(rows["time"][1] / 1e9, summary["seconds"], places=9)
        self.assertAlmostEqual(rows["time"][2], self.summary["seconds"] / summary["seconds"], places=6)
        self.assertEqual(rows["evictions"][:2], [self.summary["evictions"], summary["evictions"]])
        moved = [sum(row[column] for name, row in rows.items() if name.startswith("moved")) for column in (0, 1)]
        self.assertEqual(moved, [self.summary["bytes_total"], summary["bytes_total"]])
        for column in (0, 1):
            parts = sum(row[column] for name, row in rows.items() if name.startswith("a worker"))
            self.assertAlmostEqual(parts, rows["time"][column], delta=2)
        self.assertRegex(page.paragraphs[0], r"^With (auto|eager) the run took .*, with (auto|eager) .* times as long\.")

    def test_refuses_to_set_another_file_beside(self):
        other = self.folder / "no-report.html"
        other.write_text(self.text.replace("</body>", "<script>compare('<p>hello</p>');</script></body>"), encoding="utf-8")
        page = opened(other)
        self.assertEqual((page.body["data-state"], page.body["data-errors"]), ("ready", "0"))
        self.assertIn("This file is not a granary report that this page can read.", page.paragraphs)

    def test_peaks_stay_below_limits(self):
        rows = [row for row in self.page.tables["t-nodes"] if not isinstance(row[1], str)]
        self.assertEqual(len(rows), self.summary["devices"])
        for row in rows:
            self.assertEqual(row[1], self.summary["memory_bytes"])
            self.assertTrue(0 < row[2] <= row[1], row)

    def test_configuration(self):
        configuration = self.page.keys["t-configuration"]
        self.assertEqual((configuration["scheduler"][1], configuration["eviction"][1]), (self.summary["scheduler"], self.summary["eviction"]))

    def test_figures_and_keyboard(self):
        probe = json.loads(self.page.body["data-probe"])
        self.assertGreater(probe["timeline"], 10)
        self.assertGreater(probe["matrix"], 30)
        self.assertRegex(probe["first"], r"getrf \(i = 0, j = 0, k = 0\), task 0 .* writes A\(0, 0\)")
        self.assertNotEqual(probe["first"], probe["second"])
        self.assertEqual(probe["down"], "gpu1")
        self.assertNotRegex(probe["zoomed"], r"^0 ns to (.*) of \1$")
        self.assertRegex(probe["tooltip"], r"gpu1|task")

    def test_says_that_it_is_damaged(self):
        damaged = self.folder / "damaged.html"
        damaged.write_text(re.sub(r'(id="tasks-begin">)........', r"\1", self.text), encoding="utf-8")
        page = opened(damaged)
        self.assertEqual(page.body["data-state"], "loading")
        self.assertNotEqual(page.body["data-errors"], "0")

    def test_of_a_real_run(self):
        path, summary_file = self.folder / "lu.html", self.folder / "lu.json"
        subprocess.run([LU, "general:300", "--tile", "50", "--workers", "0", "--devices", "host:4", "--device-memory", "400KiB",
                        "--report", path, "--json", summary_file, "--quiet"], check=True, capture_output=True)
        summary = json.loads(summary_file.read_text(encoding="utf-8"))
        page = opened(path)
        self.assertEqual((page.body["data-state"], page.body["data-errors"]), ("ready", "0"))
        self.assertEqual(sum(row[1] for row in page.tables["t-codelets"]), summary["tasks"])
        self.assertEqual([row[1] for row in page.tables["t-workers"]], [device["tasks"] for device in summary["devices"]])
        totals = {key: row[1] for key, row in page.keys["t-totals"].items() if key}
        busy = sum(row[3] for row in page.tables["t-workers"]) / 1e9
        self.assertAlmostEqual(totals["area seconds"], busy / 4, delta=1e-3 * busy)
        # The page does not mention a device without work.
        into = sum(totals.get(f"least bytes loaded into {device['name']}", 0) for device in summary["devices"])
        self.assertAlmostEqual(into, 2 * 300**3 / 3 / (400 * 1024 / 8)**0.5 * 8, delta=1e-3 * into)
        self.assertEqual(totals["least bytes loaded"], max(into, 8 * 300**2))

    def test_says_everything_in_words_with_units(self):
        tables = self.page.tables
        for name in ("t-totals", "t-configuration"):
            for row in tables[name]:
                self.assertNotIn("_", row[0])
                self.assertNotRegex(row[0], r"^least ")
        # Sizes and rates are in units of 1024 everywhere, as limits are; the page's own code has no others.
        self.assertNotRegex(self.text, r'"[kMGT]B"')
        self.assertRegex(self.page.columns[0], "in tasks.*waiting for data.*no ready task.*after the last task")
        self.assertNotIn("blocked", self.page.columns[0])

    def test_a_colour_has_one_meaning(self):
        colours = [colour for palette in json.loads(self.page.body["data-probe"])["palettes"] for colour in palette]
        self.assertEqual(len(colours), len(set(colours)))

    def test_explains_the_block_of_tiles(self):
        path = self.folder / "cholesky.html"
        subprocess.run([PROGRAM, "--platform", "v100x2", "--algorithm", "cholesky", "--tiles", "16", "--tile", "960", "--memory", "0.1",
                        "--report", path, "--force"], check=True, capture_output=True)
        path.write_text(path.read_text(encoding="utf-8").replace("</body>", "<script>draw_order();</script></body>"), encoding="utf-8")
        self.assertRegex(opened(path).legends["order-legend"], r"size of one memory: \d+ tiles")

    def test_tells_what_kokkos_blocked(self):
        """A page in which all waits are changed to waits for other workers' kernels."""
        count = json.loads(re.search(r'id="report-header">(.*?)</script>', self.text).group(1))["tables"]["waits"]["count"]
        # The first difference is 1, all others 0; differences are zigzag numbers.
        why = base64.b64encode(bytes([2] + [0] * (count - 1))).decode()
        text, replaced = re.subn(r'(id="waits-why">)[^<]*', lambda found: found.group(1) + why, self.text)
        self.assertEqual(replaced, 1)
        path = self.folder / "blocked.html"
        path.write_text(text, encoding="utf-8")
        page = opened(path)
        self.assertEqual((page.body["data-state"], page.body["data-errors"]), ("ready", "0"))
        for row, before in zip(page.tables["t-workers"], self.page.tables["t-workers"]):
            self.assertEqual((row[4], row[5]), (before[5], 0))
        self.assertIn("blocked by Kokkos", page.columns[0])
        self.assertIn("blocked by Kokkos", page.legends["legend"])

    def test_of_several_processes(self):
        path, summary_file = self.folder / "cluster.html", self.folder / "cluster.json"
        subprocess.run([PROGRAM, "--platform", "v100x2", "--algorithm", "cholesky", "--tiles", "12", "--tile", "960", "--memory", "0.4",
                        "--processes", "4", "--network", "5GB/s:2us", "--report", path, "--json", summary_file, "--force"],
                       check=True, capture_output=True)
        summary = json.loads(summary_file.read_text(encoding="utf-8"))[0]
        path.write_text(path.read_text(encoding="utf-8").replace("</body>", PROBE_OF_PROCESSES + "</body>"), encoding="utf-8")
        page = opened(path)
        self.assertEqual((page.body["data-state"], page.body["data-errors"]), ("ready", "0"))
        rows = page.tables["t-processes"]
        self.assertEqual([row[0] for row in rows], [0, 1, 2, 3])
        shown = [{"tasks": row[2], "bytes_received": row[-2], "evictions": row[-1]} for row in rows]
        self.assertEqual(shown, [{key: process[key] for key in shown[0]} for process in summary["of_processes"]])
        self.assertAlmostEqual(sum(row[3] for row in rows), 4, places=9)
        for row, process in zip(rows, summary["of_processes"]):
            parts = row[4:-2]
            self.assertAlmostEqual(sum(parts), 1, places=9)
            self.assertAlmostEqual(1 - parts[0], process["idle_seconds"] / (2 * summary["seconds"]), places=6)
        links = {row[0]: row[2] for row in page.tables["t-links"]}
        self.assertEqual(sum(value for name, value in links.items() if "other processes" in name), summary["bytes_sent"])
        self.assertEqual(page.keys["t-totals"]["bytes sent between processes"][1], summary["bytes_sent"])
        self.assertEqual(page.keys["t-totals"]["processes"][1], 4)
        self.assertIn("waiting for other processes", page.legends["legend"])
        probe = json.loads(page.body["data-probe"])
        self.assertEqual(probe["before"], ["process"] * 4)
        self.assertEqual(probe["after"], ["process"] * 2 + ["worker"] * 2)
        self.assertEqual(probe["status"], "process 1, with its workers")
        self.assertEqual(probe["again"], probe["before"])
        self.assertRegex(probe["tooltip"], r"^process 1, 2 workers, at ")
        self.assertEqual(probe["places"], ["all workers"] + [f"workers of process {process}" for process in range(4)])
        self.assertEqual(sorted(probe["sorted"]), ["0", "1", "2", "3"])
        received = {str(int(row[0])): row[-2] for row in rows}
        self.assertEqual([received[name] for name in probe["sorted"]], sorted(received.values(), reverse=True))

    def test_one_process_has_no_table_of_processes(self):
        self.assertNotIn("t-processes", self.page.tables)
        self.assertNotIn("rocesses", self.page.legends["legend"])

    def test_a_check_is_not_of_the_run(self):
        """Page and summary agree, as if there were no check."""
        tasks = {}
        for check in ([], ["--check"]):
            path, summary_file = self.folder / "checked.html", self.folder / "checked.json"
            subprocess.run([LU, "general:300", "--tile", "50", "--workers", "2", "--devices", "none", "--memory", "300KiB", *check,
                            "--report", path, "--json", summary_file, "--quiet"], check=True, capture_output=True)
            summary, page = json.loads(summary_file.read_text(encoding="utf-8")), opened(path)
            tasks[len(check)] = {row[0] for row in page.tables["t-codelets"]} - {"max_modulus"}
            self.assertEqual(sum(row[1] for row in page.tables["t-codelets"]), summary["tasks"])
            for row in page.tables["t-workers"]:
                self.assertAlmostEqual(sum(row[3:7]) / 1e9, summary["seconds"], places=6)
            self.assertEqual(len(page.tables["t-codelets"]), len({row[0] for row in page.tables["t-codelets"]}))
            self.assertLess(sum(row[3] for row in page.tables["t-workers"]), 2e9 * summary["seconds"])
            self.assertEqual("check_seconds" in summary, bool(check))
            self.assertEqual("check_seconds" in page.keys["t-totals"], bool(check))
        self.assertFalse([name for name in tasks[1] if name.startswith("residual")], tasks)

    def test_of_a_run_that_fails(self):
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (100, 100)}\n"
        zeros, path = self.folder / "zeros.npy", self.folder / "failed.html"
        zeros.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(80000))
        run = subprocess.run([LU, zeros, "--no-pivoting", "--tile", "50", "--workers", "1", "--devices", "none", "--report", path],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1, run.stderr)
        page = opened(path)
        self.assertEqual((page.body["data-state"], page.body["data-errors"]), ("ready", "0"))
        self.assertEqual([row[2] for row in page.tables["t-workers"]], [1])


if __name__ == "__main__":
    PROGRAM, LU, FOLDER = sys.argv[1:4]
    passed = unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful()
    if passed and BROWSER is None:
        print("skipped what needs a browser: none of", ", ".join(BROWSERS), "is installed")
    sys.exit(77 if passed and BROWSER is None else 0 if passed else 1)
