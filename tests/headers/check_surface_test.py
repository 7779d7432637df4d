#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_surface.py counts what users see of a small tree, and nothing else."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_surface  # noqa: E402

FILES = {
    "include/granary/granary.hpp": "#include <granary/detail/runtime/api/runtime.hpp>\n",
    "include/granary/policy.hpp": "#include <granary/detail/core/policy/scheduler.hpp>\n",
    "core/policy/scheduler.hpp": """namespace granary {

class GRANARY_EXPORT Scheduler : public Policy {
 public:
  virtual void ready(int task) = 0;
  [[nodiscard]] virtual int next() = 0;
  void forget();
};

}  // namespace granary
""",
    "include/granary/trace.hpp": "#include <granary/detail/trace/a.hpp>\n",
    "runtime/api/runtime.hpp": """namespace granary {

class Declared;
enum class Mode : int { One, Two };
using Bytes = int;

namespace detail {
struct Inner {};
}  // namespace detail

/// A runtime.
class GRANARY_EXPORT Runtime {
 public:
  explicit Runtime(int options = {});
  /// Waits.
  void wait();
  [[nodiscard]] int const& count(int first,
                                 int last) const;
  template <class T>
  T data(T view) {
    return use(view);
  }

 private:
  friend class detail::Inner;
  int m_count = 0;
};

}  // namespace granary

namespace Kokkos {
using granary::read;
}  // namespace Kokkos
""",
    "trace/a.hpp": "namespace granary {\n\nstruct Trace {\n  struct Nested {};\n};\n\n}  // namespace granary\n",
    "trace/unseen.hpp": "namespace granary {\n\nstruct Unseen {};\n\n}  // namespace granary\n",
}


class CheckSurface(unittest.TestCase):
    def test_counts_what_users_see(self):
        with tempfile.TemporaryDirectory() as root:
            for name, text in FILES.items():
                file = pathlib.Path(root) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            self.assertEqual(check_surface.counts(pathlib.Path(root)), {
                "types in namespace granary, in all installed headers": 5,
                "types in namespace granary, shown by granary.hpp": 3,
                "functions of Runtime": 4,
                "lines of Runtime's class": 14,
                "friends of Runtime": 1,
                "virtual functions of Scheduler": 2,
                "names added to namespace Kokkos": 1,
            })

    def test_has_a_limit_for_each_count(self):
        self.assertEqual(set(check_surface.LIMITS), set(check_surface.counts(check_surface.ROOT)))


if __name__ == "__main__":
    unittest.main()
