# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A check for each row of docs/figures.md that agrees with its paper (check_claims.py)."""
from claims import darts, hierarchical, laheteroprio, memory, static  # noqa: F401
from claims.claim import CHECKS  # noqa: F401
