// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>
#include <vector>

#include "apps/cli_test.hpp"

namespace granary {
namespace {

using ::testing::HasSubstr;

class QrCli : public testing::CliTest {
 protected:
  QrCli() : CliTest("granary-qr") {}
  void SetUp() override {
    if (!have_h5py()) GTEST_SKIP() << "no h5py";
  }
  void make_matrix(std::string const& type, int m, int n) const {
    python("g = np.random.default_rng(1)\nt = np.dtype('" + type + "')\ns = (" + std::to_string(m) + ", " +
           std::to_string(n) + R"()
A = g.normal(size=s) + (1j * g.normal(size=s) if t.kind == 'c' else 0)
np.save('A.npy', A.astype(t))
)");
  }
  // Multiplies the reflectors of QR.h5 with R.
  void expect_factors() const {
    EXPECT_EQ(python(R"(
A = np.load('A.npy')
f = h5py.File('QR.h5')
QR, tau = f['QR'][:], f['tau'][:]
m, n = A.shape
assert QR.dtype == A.dtype and tau.shape == (min(m, n),) and tau.dtype == A.dtype
R = np.triu(QR).astype('c16')
for j in reversed(range(min(m, n))):
    v = np.zeros(m, 'c16')
    v[j], v[j + 1:] = 1, QR[j + 1:, j]
    R -= tau[j] * np.outer(v, v.conj() @ R)
print(bool(abs(R - A).max() < 1e3 * np.finfo(A.dtype).eps))
)"),
              "True\n");
  }
};

TEST_F(QrCli, WritesLapacksFactorsInAllPrecisionsAndShapes) {
  for (std::string const type : {"f4", "f8", "c8", "c16"}) {
    for (auto const& [m, n] : {std::pair{150, 150}, {211, 97}, {97, 211}}) {
      if (type != "f8" && m != 211) continue;
      make_matrix(type, m, n);
      for (std::string const memory : {"300KiB", "64MiB"}) {
        auto const result =
            run({"A.npy", "QR.h5", "--check", "--memory", type == "c16" ? "64MiB" : memory, "--tile", "16"});
        ASSERT_EQ(result.status, 0) << result.err;
        EXPECT_THAT(result.out, HasSubstr("|R - Q^H A| / (m eps |A|)"));
        expect_factors();
      }
    }
  }
}

TEST_F(QrCli, FactorsWithLessMemoryThanTheMatrix) {
  auto const result = run({"general:1021x901", "--check", "--memory", "2MiB", "--json", "s.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const summary = read_json("s.json");
  EXPECT_EQ(summary["order"], "left-looking");
  EXPECT_LT(summary["residual"].get<double>(), 1);
  EXPECT_LE(summary["memory_peak_bytes"].get<std::uint64_t>(), std::uint64_t{2} << 20);
}

TEST_F(QrCli, LeastMemoryIsExact) {
  make_matrix("f8", 130, 97);
  expect_least_memory_is_exact({"A.npy", "--tile", "30", "--workers", "1"});
}

TEST_F(QrCli, RefusesNan) {
  make_matrix("f8", 40, 30);
  python("A = np.load('A.npy')\nA[17, 3] = np.nan\nnp.save('A.npy', A)");
  expect_refused({"A.npy", "QR.h5"}, 2, "A.npy holds NaN at (17, 3)");
}

}  // namespace
}  // namespace granary
