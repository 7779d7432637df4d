#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares manual pages and completions with the programs' --help: manuals_test.py BIN MANUALS.

BIN has the programs, MANUALS the files generated from their help: man/, bash/, zsh/. Missing shells and formatters are reported and skipped.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import program_help  # noqa: E402

BIN, MANUALS = (pathlib.Path(argument) for argument in sys.argv[1:3])
PROGRAMS = sorted(path.name for path in (MANUALS / "bash").iterdir())


def needs(tool: str):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is missing")


def complete(program: str, *words: str) -> set[str]:
    """The completions of bash for the last word."""
    line = " ".join(f"'{word}'" for word in (program, *words))
    script = f"source '{MANUALS}/bash/{program}'; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _{program.replace('-', '_')}; "
    output = subprocess.run(["bash", "-uc", script + 'printf "%s\\n" "${COMPREPLY[@]}"'], check=True, capture_output=True, text=True)
    return set(output.stdout.split())


class Help(unittest.TestCase):
    def test_options_are_read_as_any_version_of_the_library_prints_them(self):
        lines = ["Usage: granary-cart [OPTIONS]", "", "Options:", "  -h,--help                   Print this help",
                 "  --wheels UINT:INT in [1 - 16] [4] ", "                              how many", "  --wood TEXT:{oak,ash} [oak] ",
                 "                              which", "  --flat{false}               no sides"]
        found, _ = program_help.parse(["granary-cart"], "\n".join(lines))
        self.assertEqual([option.names for option in found.options], [["-h", "--help"], ["--wheels"], ["--wood"], ["--flat"]])
        self.assertEqual([option.text for option in found.options], ["Print this help", "how many", "which", "no sides"])
        self.assertEqual(found.options[2].choices, ["oak", "ash"])


class Manuals(unittest.TestCase):
    def test_every_program_has_them(self):
        self.assertEqual(PROGRAMS, sorted(path.name for path in (ROOT / "apps").glob("granary-*")))

    @unittest.skipUnless((MANUALS / "man").is_dir(), "help2man is missing")
    def test_a_manual_page_names_every_option(self):
        for program in PROGRAMS:
            page = (MANUALS / "man" / f"{program}.1").read_text().replace("\\-", "-")
            found = program_help.read_help(BIN / program)
            for command in [found, *found.subcommands]:
                for name in command.option_names:
                    self.assertRegex(page, re.escape(name) + r"\b", program)

    @unittest.skipUnless((MANUALS / "man").is_dir(), "help2man is missing")
    def test_manual_pages_name_the_variables_that_are_read(self):
        variables = set(re.findall(r'"(GRANARY_[A-Z_]+)"', (ROOT / "runtime/setup/configure.cpp").read_text()))
        self.assertGreater(len(variables), 8)
        page = (MANUALS / "man" / "granary-cholesky.1").read_text().replace("\\-", "-")
        self.assertEqual(variables - set(re.findall(r"GRANARY_[A-Z_]+", page)), set())

    @needs("man")
    @unittest.skipUnless((MANUALS / "man").is_dir(), "help2man is missing")
    def test_manual_pages_format_without_warnings(self):
        for program in PROGRAMS:
            page = MANUALS / "man" / f"{program}.1"
            result = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
            self.assertEqual((result.returncode, result.stderr), (0, ""), program)
            self.assertIn("EXIT STATUS", result.stdout)

    def test_bash_offers_the_options(self):
        for program in PROGRAMS:
            found = program_help.read_help(BIN / program)
            self.assertEqual(complete(program, "--"), {name for name in found.option_names if name.startswith("--")}, program)
            for subcommand in found.subcommands:
                name = subcommand.words[-1]
                self.assertIn(name, complete(program, name[:2]))
                self.assertEqual(complete(program, name, "--"), {option for option in subcommand.option_names if option.startswith("--")})

    def test_bash_offers_names_of_policies(self):
        self.assertEqual(complete("granary-cholesky", "--scheduler", "dmda"), {"dmda", "dmdar", "dmdas"})
        self.assertEqual(complete("granary-simulate", "--platform", "v100"), {"v100x1", "v100x2", "v100x4"})
        self.assertEqual(complete("granary-cholesky", "--memory", ""), set())

    @needs("zsh")
    def test_zsh_accepts_its_functions_and_finds_every_option(self):
        for program in PROGRAMS:
            file = MANUALS / "zsh" / f"_{program}"
            subprocess.run(["zsh", "-n", file], check=True)
            text = file.read_text()
            found = program_help.read_help(BIN / program)
            for command in [found, *found.subcommands]:
                for name in command.option_names:
                    self.assertIn(f"'{name}[", text, program)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
