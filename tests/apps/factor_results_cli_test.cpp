// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What granary-cholesky computes from its factor: the log-determinant, the condition, the diagonal of the inverse.
#include <string>
#include <vector>

#include "apps/cli_test.hpp"

namespace granary {
namespace {

using ::testing::HasSubstr;

class FactorResultsCli : public testing::CliTest {
 protected:
  FactorResultsCli() : CliTest("granary-cholesky") {}
  void SetUp() override {
    if (!have_h5py()) GTEST_SKIP() << "no h5py";
  }
  void make_matrix(std::string const& type) const {
    python("g = np.random.default_rng(1)\nt = np.dtype('" + type + R"(')
A = g.normal(size=(211, 211)) + (1j * g.normal(size=(211, 211)) if t.kind == 'c' else 0)
np.save('A.npy', (A @ A.conj().T + 30 * np.eye(211)).astype(t))
)");
  }
};

TEST_F(FactorResultsCli, AgreeWithNumpyInAllPrecisionsAndTriangles) {
  for (std::string const type : {"f4", "f8", "c8", "c16"}) {
    make_matrix(type);
    for (bool const upper : {false, true}) {
      for (bool const has_output : {false, true}) {
        std::vector<std::string> arguments{"A.npy", "--tile", "50",     "--logdet", "--condition", "--inverse-diagonal",
                                           "d.h5",  "--json", "s.json", "--memory", "1MiB"};
        if (has_output) arguments.insert(arguments.begin() + 1, "L.h5");
        if (upper) arguments.emplace_back("--upper");
        auto const result = run(arguments);
        ASSERT_EQ(result.status, 0) << result.err;
        EXPECT_THAT(result.out, HasSubstr("log determinant"));
        EXPECT_EQ(python(R"(
import json
A = np.load('A.npy')
s = json.load(open('s.json'))
d = h5py.File('d.h5')['inverse_diagonal'][:]
eps = np.finfo(A.dtype).eps
B = A.astype('c16')
inverse = np.linalg.inv(B)
assert d.shape == (211,) and d.dtype == A.dtype
assert np.allclose(d, np.diag(inverse), rtol=1e5 * eps), abs(d - np.diag(inverse)).max()
assert np.isclose(s['logdet'], np.linalg.slogdet(B)[1], rtol=1e3 * eps)
condition = np.linalg.norm(B, 1) * np.linalg.norm(inverse, 1)
assert condition * (1 - 1e-3) >= 1 / s['reciprocal_condition'] >= condition / 2, (condition, s)
print('agree')
)"),
                  "agree\n")
            << type;
      }
    }
  }
}

TEST_F(FactorResultsCli, RefuseOutputsThatCollide) {
  make_matrix("f8");
  expect_refused({"A.npy", "L.h5", "--inverse-diagonal", "L.h5"}, 2, "which is another output");
  expect_refused({"A.npy", "--inverse-diagonal", "d.npy"}, 2, "its name must end in .h5");
  expect_refused({"A.npy", "--inverse-diagonal", "missing/d.h5"}, 2, "missing");
}

TEST_F(FactorResultsCli, LeastMemoryIsExact) {
  make_matrix("f8");
  expect_least_memory_is_exact({"A.npy", "--tile", "50", "--condition", "--logdet", "--workers", "1"});
  expect_least_memory_is_exact({"A.npy", "--tile", "50", "--inverse-diagonal", "d.h5", "--workers", "1"});
}

}  // namespace
}  // namespace granary
