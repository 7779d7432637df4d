# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each paper says of the configuration of its figures: bench/figures/as_published/<figure>.json.

    source      where the paper says so, in its words; what it leaves open, and what was chosen
    options     of granary-simulate, for all runs of the figure; `true`: an option without a value
    cases       optional: more options for each part of the figure (a GPU, a number of GPUs), by name
    schedulers  specifications by the names in the paper; an eviction policy is the scheduler's own unless `options` name one

Figures are drawn with it by default. Our own settings are a second set of curves.
"""
import json
import pathlib
import typing

FOLDER = pathlib.Path(__file__).with_name("as_published")
KEYS = {"source": list, "options": dict, "cases": dict, "schedulers": dict}


class Published(typing.NamedTuple):
    figure: str
    source: list[str]
    options: dict[str, typing.Any]
    cases: dict[str, dict[str, typing.Any]]
    schedulers: dict[str, str]

    def runs(self, simulations, name=None, case=None, schedulers=None, own=False, **more):
        """The runs of the figure, or of one case, with the names of schedulers in the paper; `more` replaces options.
        `own`: also those of the user's schedulers, under their own names."""
        specifications = schedulers or self.schedulers
        if own:
            specifications = {**specifications, **simulations.own_beside(specifications.values())}
        options = {**self.options, **(self.cases[case] if case else {}), **more}
        runs = simulations.runs(name or self.figure, scheduler=list(specifications.values()), **options)
        names = {specification: label for label, specification in specifications.items()}
        return [dict(run, scheduler=names[run["scheduler"]], specification=run["scheduler"]) for run in runs]


def load(figure):
    """The configuration of `figure`; ValueError with the file's name if it has other keys than those above."""
    path = FOLDER / f"{figure}.json"
    contents = json.loads(path.read_text())
    for key, value in contents.items():
        if not isinstance(value, KEYS.get(key, ())):
            raise ValueError(f"{path}: '{key}' is not one of {', '.join(KEYS)}, or is not of its type")
    for key in ("source", "schedulers"):
        if not contents.get(key):
            raise ValueError(f"{path}: '{key}' is missing or empty")
    labels = contents["schedulers"]
    if len(set(labels.values())) < len(labels):
        raise ValueError(f"{path}: two names have the same scheduler")
    return Published(figure, contents["source"], contents.get("options", {}), contents.get("cases", {}), labels)
