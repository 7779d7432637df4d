# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How checks of claims are written."""
CHECKS = {}


class Check:
    """A function of the simulations, of whether to use the problems of the page, and of Expectations."""

    def __init__(self, key, function, long):
        self.key, self.function, self.long = key, function, long

    def run(self, simulations, whole):
        """What does not hold."""
        expect = Expectations()
        self.function(simulations, whole, expect)
        return expect.broken if expect.count else ["the check expects nothing"]


class Expectations:
    """Collects those that are not met."""

    def __init__(self):
        self.count, self.broken = 0, []

    def between(self, low, value, high, what):
        self.count += 1
        if not low <= value <= high:
            self.broken.append(f"{what} is {value:.4g}, not in [{low:.4g}, {high:.4g}]")

    def at_least(self, low, value, what):
        self.between(low, value, float("inf"), what)

    def at_most(self, high, value, what):
        self.between(float("-inf"), value, high, what)


def claim(key, long=False):
    """Registers the check of a row; long: it takes minutes, also with small problems."""

    def register(function):
        if key in CHECKS:
            raise ValueError(f"two checks have the key {key}")
        CHECKS[key] = Check(key, function, long)
        return function

    return register
