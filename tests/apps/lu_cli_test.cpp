// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <csignal>

#include "apps/cli_test.hpp"

namespace granary {

namespace {

using ::testing::HasSubstr;

class LuCli : public testing::CliTest {
 protected:
  LuCli() : CliTest("granary-lu") {}
  // |P A - L U| of the factors in LU.h5 against the array `A` of A.npy, relative to |A| and the precision.
  [[nodiscard]] std::string residual_is_small() const {
    return python(R"(
A = np.load('A.npy')
f = h5py.File('LU.h5')
LU, piv = f['LU'][:], f['pivots'][:]
m, n = A.shape
k = min(m, n)
assert LU.shape == A.shape and LU.dtype == A.dtype and piv.shape == (k,)
P = A.copy()
for i in range(k):
    assert i <= piv[i] < m
    P[[i, piv[i]]] = P[[piv[i], i]]
L = np.tril(LU[:, :k], -1) + np.eye(m, k)
U = np.triu(LU[:k])
eps = np.finfo(A.dtype).eps
print(bool(np.abs(P - L @ U).max() < 30 * max(m, n) * eps * np.abs(A).max()))
)");
  }
};

TEST_F(LuCli, FactorsLikeLapackInAllPrecisionsAndShapes) {
  if (!have_h5py()) GTEST_SKIP() << "no h5py";
  for (auto const* type : {"f4", "f8", "c8", "c16"}) {
    for (auto const* shape : {"(150, 150)", "(200, 70)", "(70, 200)", "(5, 1)", "(1, 1)"}) {
      python("g = np.random.default_rng(1)\ns = " + std::string(shape) +
             "\nnp.save('A.npy', (g.uniform(-1, 1, s) + 1j * g.uniform(-1, 1, s)).astype('c16').astype('" + type +
             "') if '" + type + "'[0] == 'c' else g.uniform(-1, 1, s).astype('" + type + "'))");
      auto const result =
          run({"A.npy", "LU.h5", "--tile", "32", "--memory", "200KiB", "--check", "--json", "out.json"});
      ASSERT_EQ(result.status, 0) << type << shape << result.err;
      EXPECT_EQ(residual_is_small(), "True\n") << type << shape;
      EXPECT_LT(read_json("out.json").at("residual"), 30);
    }
  }
}

TEST_F(LuCli, UpdatesInTheOrderOfTheScheduler) {
  for (auto const* scheduler : {"planned", "darts"}) {
    auto const result = run({"random:400", "--no-pivoting", "--commuting", "--tile", "32", "--memory", "100KiB",
                             "--scheduler", scheduler, "--check", "--json", std::string(scheduler) + ".json"});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_LT(read_json(std::string(scheduler) + ".json").at("residual"), 30);
  }
}

// Its last column overflows when rows are combined.
TEST_F(LuCli, AnOverflowEndsWithoutAnOutput) {
  if (!have_h5py()) GTEST_SKIP() << "no h5py";
  for (auto const* shape : {"(90, 90)", "(120, 90)", "(90, 120)"}) {
    python("A = np.random.default_rng(1).uniform(-1, 1, " + std::string(shape) +
           ")\nA[:, -1] *= 1.7e308\nnp.save('A.npy', A)");
    for (auto const* tile : {"16", "128"}) {
      SCOPED_TRACE(shape + std::string(" in tiles of ") + tile);
      expect_refused({"A.npy", "LU.h5", "--tile", tile, "--memory", "400KiB"}, 1,
                     "the factorization holds NaN or infinity: a number has overflowed");
      expect_refused({"A.npy", "--tile", tile, "--quiet"}, 1, "the factorization holds NaN or infinity");
    }
  }
}

TEST_F(LuCli, WritesTheStableKeysOfTheSummary) {
  ASSERT_EQ(run({"general:100x60", "--json", "out.json", "--quiet", "--check", "--left-looking"}).status, 0);
  auto const json = read_json("out.json");
  for (auto const* key : {"m",
                          "n",
                          "pivoting",
                          "leaf_tiles",
                          "tile",
                          "inner_tile",
                          "tile_chosen_by",
                          "precision",
                          "workers",
                          "scheduler",
                          "eviction",
                          "depth",
                          "memory_limit_bytes",
                          "memory_peak_bytes",
                          "seconds",
                          "gflops",
                          "bytes_read",
                          "bytes_written",
                          "io_bound_bytes",
                          "compulsory_bytes",
                          "tasks",
                          "wait_seconds",
                          "blocked_seconds",
                          "decision_seconds",
                          "growth",
                          "residual"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json.at("m"), 100);
  EXPECT_EQ(json.at("n"), 60);
  EXPECT_FALSE(json.contains("zero_pivot"));
}

TEST_F(LuCli, WithoutPivotingItSaysTheGrowthAndTheBadPivot) {
  ASSERT_EQ(run({"random:200", "LU.h5", "--no-pivoting", "--tile", "64", "--check", "--json", "out.json"}).status, 0);
  EXPECT_LE(read_json("out.json").at("growth"), 2);
  EXPECT_EQ(read_json("out.json").at("pivoting"), "none");
  if (!have_h5py()) return;
  EXPECT_EQ(python("print(list(h5py.File('LU.h5')))"), "['LU']\n");
  python("A = np.eye(100)\nA[70, 70] = 0\nnp.save('zero.npy', A)");
  expect_refused({"zero.npy", "other.h5", "--no-pivoting", "--tile", "32"}, 1, "pivot 71");
}

TEST_F(LuCli, ASingularMatrixIsFactoredAndNamed) {
  if (!have_h5py()) GTEST_SKIP() << "no h5py";
  python("A = np.random.default_rng(1).uniform(-1, 1, (100, 100))\nA[:, 40] = 0\nnp.save('A.npy', A)");
  auto const result = run({"A.npy", "LU.h5", "--tile", "32", "--json", "out.json", "--check"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("pivot 41 of its factorization is exactly zero"));
  EXPECT_EQ(read_json("out.json").at("zero_pivot"), 41);
  EXPECT_EQ(residual_is_small(), "True\n");
}

TEST_F(LuCli, EveryPolicyFactorsUnderATightLimit) {
  for (auto const* scheduler : {"eager", "prio", "darts"}) {
    for (auto const* order : {"--left-looking", "--quiet"}) {
      auto const result = run({"general:300", "LU.h5", "--tile", "50", "--memory", "200KB", "--check", "--json",
                               "out.json", "--scheduler", scheduler, order});
      ASSERT_EQ(result.status, 0) << scheduler << " " << order << ": " << result.err;
    }
  }
}

TEST_F(LuCli, TheLeastMemoryThatTheMessageNamesIsEnough) {
  expect_least_memory_is_exact({"general:50", "--tile", "60"});
  expect_least_memory_is_exact({"general:500", "LU.h5", "--tile", "60"});
  expect_least_memory_is_exact({"general:2000x7", "LU.h5", "--tile", "60"});
  expect_least_memory_is_exact({"general:7x2000", "LU.h5", "--tile", "60", "--check"});
  expect_least_memory_is_exact({"general:300x200", "--tile", "50", "--check", "--complex"});
  expect_least_memory_is_exact({"random:200", "--tile", "50", "--no-pivoting"});
}

TEST_F(LuCli, RefusesBadInput) {
  std::ofstream(file("text.h5")) << "no matrix";
  expect_refused({}, 2, "INPUT");
  expect_refused({"missing.h5", "LU.h5"}, 2, "missing.h5");
  expect_refused({"text.h5", "LU.h5"}, 2, "text.h5");
  expect_refused({"general:0"}, 2, "general:0");
  expect_refused({"genral:100"}, 2, "'genral:100' is not a generated matrix; the known ones are random:, general:");
  expect_refused({"general:100", "LU.npy"}, 2, "the output LU.npy is an HDF5 file");
  expect_refused({"general:100", "LU.h5:/A"}, 2, "it will hold dataset LU; write LU.h5");
  expect_refused({"general:100", "--unknown"}, 2, "--unknown");
  expect_refused({"general:100", "--inner-tile", "0"}, 2, "--inner-tile");
  expect_refused({"general:100", "--commuting"}, 2, "--commuting needs --no-pivoting");
  expect_refused({"general:100", "LU.h5", "--json", "LU.h5"}, 2, "LU.h5");
  expect_refused({"text.h5", "text.h5"}, 2, "text.h5");
  if (!have_h5py()) return;
  python("A = np.ones((64, 64))\nA[50, 17] = np.nan\nnp.save('nan.npy', A)");
  expect_refused({"nan.npy", "LU.h5", "--tile", "16"}, 2, "(50, 17)");
  expect_refused({"nan.npy", "nan.npy"}, 2, "the output nan.npy is an HDF5 file");
  expect_refused({"nan.npy", "LU.h5", "--float"}, 2, "--float");
}

TEST_F(LuCli, ASignalLeavesNothingBehind) {
  expect_signal_leaves_nothing({"general:2000", "LU.h5", "--tile", "128", "--memory", "2MiB"}, "LU.h5");
}

TEST_F(LuCli, KeepsItsMemoryLimit) {
  expect_limit_kept({"general:1", "--tile", "128", "--quiet"}, {"general:2048", "LU.h5", "--tile", "128"}, 8L << 20);
}

}  // namespace
}  // namespace granary
