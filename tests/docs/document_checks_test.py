#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of the documents find faults: document_checks_test.py BIN."""
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"
BIN = sys.argv[1]
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
import source_messages  # noqa: E402

SOURCE = """
void check(int n) {
  if (n < 0) throw InvalidArgument("the number " + std::to_string(n) + " of wheels is negative");
  if (n == 0) throw DeviceError(fmt::format("a cart of {} wheels {} fell", n, "that"));
}
"""


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)
        self.write("README.md", "# A cart\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def refused(self, script: str, *arguments: str, status: int = 1) -> str:
        result = subprocess.run([sys.executable, "-B", SCRIPTS / script, *arguments], capture_output=True, text=True)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_a_block_of_code_that_no_example_has(self):
        self.write("examples/cart.cpp", "int wheels = 4;\n")
        self.write("docs/cart.md", "```cpp\nint wheels = 4;\n```\n")
        self.refused("check_docs.py", str(self.root), status=0)
        for other in ("int wheels = 5;", "wheels = 4;"):
            self.write("docs/cart.md", f"```cpp\n{other}\n```\n")
            self.assertIn("no example holds it", self.refused("check_docs.py", str(self.root)))

    def test_blocks_that_are_not_what_they_say(self):
        self.write("examples/cart.cpp", "int wheels = 4;\n")
        good = "```cpp\nint wheels = 4;\n```\n"
        configured = "<!-- file: CMakeLists.txt -->\n```cmake\nproject(cart)\n```\n"
        self.write("docs/cart.md", good + configured + "```cmake\nproject(cart)\n```\n```yaml\nwheels: 4\n```\n```text\ngranary-cart FILE\n```\n")
        self.refused("check_docs.py", str(self.root), status=0)
        for bad in ("```python\nwheels = = 4\n```\n", "```json\n{'wheels': 4}\n```\n", "```sh\nif true; do\n```\n", "[cart](cart.png)\n",
                    "```cmake\nproject(cart)\n```\n", "```yaml\nwheels: [4\n```\n", "```text\n$ granary-cart --wheels 4\n```\n",
                    "```\ngranary-cart\n```\n", "- a\n  ```sh\n  true\n  ```\n"):
            self.write("docs/cart.md", good + bad)
            self.assertIn("docs/cart.md", self.refused("check_docs.py", str(self.root)))

    def test_a_function_that_the_page_of_functions_lacks(self):
        self.write("examples/cart.cpp", "int wheels = 4;\n")
        self.write("docs/cart.md", "```cpp\nint wheels = 4;\n```\n")
        for header in ("system_view", "plan_board", "scheduler", "scheduler_extensions", "eviction_policy", "policy"):
            self.write(f"core/policy/{header}.hpp", (ROOT / f"core/policy/{header}.hpp").read_text())
        page = (ROOT / "docs/policy-functions.md").read_text().replace("](", "](https:")
        self.write("docs/policy-functions.md", page)
        self.refused("check_docs.py", str(self.root), status=0)
        for was, now, why in (("| `reload_time(", "| `price(", "SystemView lacks reload_time()"),
                              ("| `reload_time(", "| `price(", "SystemView has no function price()"),
                              ("| `append(", "| append(", "PlanBoard lacks append()"),
                              ("## EvictionPolicy", "## Evictions", "EvictionPolicy lacks victim()")):
            self.write("docs/policy-functions.md", page.replace(was, now))
            self.assertIn(f"docs/policy-functions.md: {why}", self.refused("check_docs.py", str(self.root)))

    def test_names_of_the_page_of_the_design_that_do_not_exist(self):
        self.write("examples/cart.cpp", "int wheels = 4;\n")
        self.write("docs/cart.md", "```cpp\nint wheels = 4;\n```\n")
        self.write("cart/wheel.hpp", "class GRANARY_EXPORT Wheel {\n  void turn();\n};\n")
        self.write("cart/parts/axle.cpp", "")
        self.write("cart/parts/spoke.cpp", "")
        table = "\n| | folder | its |\n|---|---|---|\n| 1 | `cart` | `turns` |\n\n| file of `cart` | knows |\n|---|---|\n| `wheel`, `parts/axle` | `all` |\n"
        good = "`Wheel::turn` of `cart/wheel.hpp`, `cart/parts/{axle,spoke}.cpp`, `cart/*.hpp`, `cart/parts/`, `cart/wheel`, `a horse`.\n"
        self.write("docs/design.md", good + table)
        self.refused("check_docs.py", str(self.root), status=0)
        for was, now in (("cart/wheel.hpp", "cart/rim.hpp"), ("cart/wheel.hpp", "wheel.hpp"), ("{axle,spoke}", "{axle,rim}"), ("cart/*.hpp", "cart/*.py"),
                         ("cart/parts/`", "cart/rims/`"), ("1 | `cart`", "1 | `coach`"), ("`wheel`", "`rim`"), ("parts/axle`", "parts/rim`"),
                         ("Wheel::turn", "Wheel::roll"), ("Wheel::turn", "Rim::turn")):
            self.write("docs/design.md", (good + table).replace(was, now))
            missing = now.split("`")[1] if now.startswith("1 ") else now.strip("`")
            self.assertIn("docs/design.md: there is no " + ("cart/parts/{axle,rim}.cpp" if "{" in now else missing), self.refused("check_docs.py", str(self.root)))

    def test_an_option_that_the_program_does_not_have(self):
        (self.root / "apps/granary-info").mkdir(parents=True)
        every = "--help --json --measure --devices --device-memory --cores-per-worker --link-bandwidth --blas --scratch --models --version"
        self.write("docs/info.md", f"`granary-info {every}`\n```sh\nbuild/bin/granary-info --json - | head  # --wheels\n```\n")
        self.refused("check_commands.py", BIN, str(self.root), status=0)
        self.write("docs/cart.md", "```sh\nGRANARY_DEVICES=none granary-info \\\n  --wheels 4\n```\n")
        self.assertIn("granary-info has no option --wheels", self.refused("check_commands.py", BIN, str(self.root)))
        self.write("docs/cart.md", "`granary-cart --help`\n")
        self.assertIn("no program granary-cart", self.refused("check_commands.py", BIN, str(self.root)))

    def test_an_option_that_no_document_names(self):
        (self.root / "apps/granary-info").mkdir(parents=True)
        self.write("docs/info.md", "`granary-info --json -`\n")
        self.assertIn("no document names its option --measure", self.refused("check_commands.py", BIN, str(self.root)))

    def commands(self, page: str, status: int) -> str:
        self.write("docs/cart.md", page)
        return self.refused("../tests/docs/commands_test.py", str(pathlib.Path(BIN).parent), str(self.root / "run"), str(self.root / "docs/cart.md"),
                            status=status)

    def test_commands_of_a_page_are_run(self):
        page = ("<!-- set-up -->\n```sh\nfalse\n```\n<!-- not run: needs a horse -->\n```sh\nfalse\n```\n"
                "<!-- run with 1000=4 -->\n```sh\necho a cart of 1000 wheels > cart\ncat cart\nfalse  # exit status 1\n```\n"
                "<!-- output, but for time -->\n```text\na  cart of 4 …\ntime 5 s\n```\n"
                "```sh\necho 4.26 wheels in 3 s\n```\n<!-- numbers: 4.3, 3 -->\n\nA cart has 4.3 wheels after 3 s.\n"
                "```sh\npython3 cart.py\ntest -x build/bin/granary-info -a -d examples -a -d bench -a $PWD = $HOME\n```\n"
                "<!-- file: cart.py -->\n```python\nassert open('cart').read()\n```\n")
        self.assertIn("3 blocks were run, 2 were not; set-up; needs a horse", self.commands(page, 0))

    def test_commands_that_do_not_do_what_the_page_says(self):
        for page, why in (("```sh\nfalse\n```\n", "ended with 1"),
                          ("```sh\nfalse\ntrue\n```\n", "ended with 1"),
                          ("```sh\ntrue  # exit status 2\n```\n", "ended with 1"),
                          ("```sh\nexit 1  # exit status 2\n```\n", "ended with 1"),
                          ("```sh\necho 5 > cart.html  # --report cart.html\n```\n", "cart.html is no whole page"),
                          ("<!-- run with 6=4 -->\n```sh\necho 16 wheels\n```\n", "'6', to be run as '4', does not stand in"),
                          ("<!-- not run: -->\n```sh\nfalse\n```\n", "nobody knows what 'not run:' means"),
                          ("<!-- horses -->\n```sh\ntrue\n```\n", "nobody knows what 'horses' means"),
                          ("```sh\necho 14 wheels\n```\n<!-- output -->\n```text\n4 wheels\n```\n", "the output has no line '4 wheels'"),
                          ("```sh\necho 4.26 wheels\n```\n<!-- numbers: 4.2 -->\n\n4.2 wheels\n", "the output has no number 4.2"),
                          ("```sh\necho 4 wheels\n```\n<!-- numbers: 4 -->\n\n5 wheels\n", "what follows does not say '4'"),
                          ("<!-- output -->\n```text\n4 wheels\n```\n", "the output has no line '4 wheels'"),
                          ("```sh\necho 4\n```\n<!-- output, but for 4 -->\n```text\n4 wheels\n```\n", "nothing is compared")):
            self.assertIn(why, self.commands(page, 1))

    def test_messages_are_found_in_sources(self):
        found = source_messages.messages_of(SOURCE, "core")
        self.assertEqual({(message.text, message.kind) for message in found},
                         {("the number … of wheels is negative", "InvalidArgument"), ("a cart of … wheels … fell", "DeviceError")})

    def test_messages_of_files_have_the_offset_that_they_state(self):
        found = source_messages.messages_of('throw IoError("cannot read", path(a, b), 4, errno); throw IoError("cannot open", path, errno);', "core")
        self.assertEqual({message.text for message in found}, {"cannot read … at byte …: …", "cannot open …: …"})

    def test_messages_that_are_not_listed_and_those_that_vanished(self):
        lines = [f'throw InvalidArgument("sentence {letter} of ten is wrong");' for letter in "abcdefghij"]
        self.write("core/base/cart.cpp", "\n".join(lines) + SOURCE)
        self.write("docs/messages.md", "<!-- messages of core/base -->\n\n")
        self.write("docs/troubleshooting.md", "| `a cart of … wheels … fell` | take another |\n")
        self.assertIn("does not list what core/base says: sentence a", self.refused("check_messages.py", str(self.root)))
        self.refused("check_messages.py", str(self.root), "--write", status=0)
        self.write("core/base/cart.cpp", "\n".join(lines[1:]) + SOURCE)
        self.assertIn("lists what core/base does not say: sentence a", self.refused("check_messages.py", str(self.root)))
        self.write("docs/troubleshooting.md", "| `a cart fell` | take another |\n")
        output = self.refused("check_messages.py", str(self.root))
        self.assertIn("quotes what the sources do not say: a cart fell", output)
        self.assertIn("does not say what to do about: a cart of … wheels … fell", output)

    def claims(self, rows: str, status: int, *keys: str, program: str = f"{BIN}/granary-simulate") -> str:
        self.write("docs/figures.md", f"| paper | here |\n|---|---|\n{rows}")
        return self.refused("../bench/figures/check_claims.py", "--page", str(self.root / "docs/figures.md"), "--program", program, *keys, status=status)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is missing")
    def test_claims_of_papers(self):
        page = (ROOT / "docs/figures.md").read_text()
        rows = "\n".join(re.findall(r"^\| <!-- claim .*", page, re.M)) + "\n"
        key = "static-7-one-core"
        self.assertIn("0 faults", self.claims(rows, 0, key))
        self.assertIn("claim-of-mine: the row agrees, but has no check", self.claims(rows + "| <!-- claim claim-of-mine --> x | **agrees** |\n", 1, key))
        self.assertIn("has no key", self.claims(rows + "| x | **agrees** |\n", 1, key))
        row = next(row for row in rows.splitlines() if key in row)
        self.assertIn(f"{key}: two rows have this key", self.claims(rows + row + "\n", 1, key))
        for other in ("", row.replace("**agrees**", "**differs**")):
            self.assertIn(f"{key}: the check has no row that agrees", self.claims(rows.replace(row, other), 1, key))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is missing")
    def test_a_claim_that_does_not_hold(self):
        rows = "\n".join(re.findall(r"^\| <!-- claim .*", (ROOT / "docs/figures.md").read_text(), re.M)) + "\n"
        # A simulator that runs heft instead of heftp.
        self.write("granary-simulate", f'#!/bin/sh\nexec "{BIN}/granary-simulate" $(echo "$@" | sed s/heftp/heft/)\n')
        (self.root / "granary-simulate").chmod(0o755)
        output = self.claims(rows, 1, "static-7-one-core", program=str(self.root / "granary-simulate"))
        self.assertIn("static-7-one-core: the number of cores that heftp uses is 8, not in [1, 1]", output)

    def test_pages_are_put_together_and_broken_links_refused(self):
        self.write("README.md", "[a cart](docs/cart.md), [docs/cart.md](docs/cart.md), [its source](examples/cart.cpp)\n")
        self.write("CONTRIBUTING.md", "")
        self.write("CHANGELOG.md", "")
        self.write("docs/cart.md", "# Carts\n[back](../README.md)\n```\n[no](link.md)\n```\n")
        self.write("examples/cart.cpp", "int wheels = 4;\n")
        self.refused("stage_site.py", str(self.root / "site"), str(self.root), status=0)
        self.assertEqual((self.root / "site/index.md").read_text(),
                         "[a cart](cart.md), [Carts](cart.md), [its source](files/examples/cart.cpp.md)\n")
        self.assertIn("[back](index.md)", (self.root / "site/cart.md").read_text())
        self.assertIn("int wheels", (self.root / "site/files/examples/cart.cpp.md").read_text())
        self.write("docs/cart.md", "[wheel](wheel.md)\n")
        self.assertIn("wheel.md is not in the repository", self.refused("stage_site.py", str(self.root / "site"), str(self.root)))

    def test_a_site_with_broken_links(self):
        names = ["index", "a", "b", "c", "d"]
        for name in names:
            self.write(f"site/{name}.html", "<h1 id='top'>x</h1>" + "".join(f"<a href='{other}.html#top'>x</a>" for other in names))
        self.refused("check_site.py", str(self.root / "site"), status=0)
        self.write("site/a.html", "<a href='e.html'>x</a><a href='b.html#end'>x</a><img src='https://example.org/x.png'>")
        self.write("site/f.html", "nobody leads here")
        output = self.refused("check_site.py", str(self.root / "site"))
        for fault in ("e.html does not exist", "b.html#end: there is no such section", "from the network", "does not name f.html"):
            self.assertIn(fault, output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
