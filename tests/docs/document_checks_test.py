#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of the documents find what is wrong: document_checks_test.py BIN."""
import pathlib
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
        self.write("docs/cart.md", "```cpp\nint wheels = 5;\n```\n")
        self.assertIn("docs/cart.md", self.refused("check_docs.py", str(self.root)))

    def test_blocks_that_are_not_what_they_say(self):
        self.write("examples/cart.cpp", "int wheels = 4;\n")
        good = "```cpp\nint wheels = 4;\n```\n"
        for bad in ("```python\nwheels = = 4\n```\n", "```json\n{'wheels': 4}\n```\n", "```sh\nif true; do\n```\n", "[cart](cart.png)\n"):
            self.write("docs/cart.md", good + bad)
            self.assertIn("docs/cart.md", self.refused("check_docs.py", str(self.root)))

    def test_an_option_that_the_program_does_not_have(self):
        (self.root / "apps/granary-info").mkdir(parents=True)
        every = "--help --json --measure --devices --device-memory --link-bandwidth --scratch --models --version"
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

    def test_messages_are_found_in_sources(self):
        found = source_messages.messages_of(SOURCE, "core")
        self.assertEqual({(message.text, message.kind) for message in found},
                         {("the number … of wheels is negative", "InvalidArgument"), ("a cart of … wheels … fell", "DeviceError")})

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
