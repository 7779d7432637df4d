// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <csignal>

#include <regex>
#include <sstream>
#include <string>

#include "apps/cli_test.hpp"

namespace granary {

namespace {

using ::testing::HasSubstr;

class SolveCli : public testing::CliTest {
 protected:
  SolveCli() : CliTest("granary-solve") {}
  // Compares X.h5 with numpy's solution of A.npy and B.npy.
  void expect_solved(std::string const& what) const {
    EXPECT_EQ(python(R"(
A, B = np.load('A.npy'), np.load('B.npy')
X = h5py.File('X.h5')['X'][:]
R = np.linalg.solve(A, B).reshape(X.shape)
assert X.dtype == A.dtype
print(bool(np.abs(X - R).max() < 1e4 * np.finfo(A.dtype).eps * np.abs(R).max()))
)"),
              "True\n")
        << what;
  }
  // A Hermitian positive definite A of order 150, or any with `general`, and 40 right-hand sides.
  void make_system(std::string const& type, bool general) const {
    python("g = np.random.default_rng(1)\nt = np.dtype('" + type + R"(')
def draw(s):
    return (g.uniform(-1, 1, s) + (1j * g.uniform(-1, 1, s) if t.kind == 'c' else 0)).astype(t)
A = draw((150, 150))
B = draw((150, 40))
)" + (general ? "A += 10 * np.eye(150, dtype=t)\n" : "A = (A @ A.conj().T + 150 * np.eye(150)).astype(t)\n") +
           "np.save('A.npy', A)\nnp.save('B.npy', B)");
  }
};

TEST_F(SolveCli, AnOverflowEndsWithoutAnOutput) {
  if (!have_h5py()) GTEST_SKIP() << "no h5py";
  python("np.save('A.npy', 1e-200 * np.eye(70))\nB = np.ones((70, 5))\nB[69, 4] = 1e200\nnp.save('B.npy', B)");
  for (auto const* method : {"--spd", "--mixed", "--quiet"}) {
    for (auto const* tile : {"16", "128"}) {
      SCOPED_TRACE(method + std::string(" in tiles of ") + tile);
      expect_refused({"A.npy", "B.npy", "X.h5", "--tile", tile, method}, 1,
                     "the solution holds NaN or infinity: a number has overflowed");
    }
  }
}

TEST_F(SolveCli, SolvesInAllPrecisions) {
  if (!have_h5py()) GTEST_SKIP() << "no h5py";
  for (std::string const type : {"f4", "f8", "c8", "c16"}) {
    for (bool const general : {true, false}) {
      make_system(type, general);
      for (bool const mixed : {false, true}) {
        std::vector<std::string> arguments{"A.npy",    "B.npy",  "X.h5",    "--tile", "32",
                                           "--memory", "300KiB", "--check", "--json", "out.json"};
        if (!general) arguments.emplace_back("--spd");
        if (mixed) arguments.emplace_back("--mixed");
        auto const result = run(arguments);
        if (mixed && (type == "f4" || type == "c8")) {
          EXPECT_EQ(result.status, 2) << result.err;
          continue;
        }
        ASSERT_EQ(result.status, 0) << type << result.err;
        expect_solved(type + (general ? " general" : " spd") + (mixed ? " mixed" : ""));
        auto const json = read_json("out.json");
        EXPECT_LT(json.at("residual"), 30);
        EXPECT_EQ(json.at("method"), general ? "lu" : "cholesky");
        EXPECT_EQ(json.contains("iterations"), mixed);
        EXPECT_EQ(json.value("used_float", false), mixed);
      }
    }
  }
}

TEST_F(SolveCli, TakesASingleVector) {
  if (!have_h5py()) GTEST_SKIP() << "no h5py";
  make_system("f8", true);
  python(
      "B = np.load('B.npy')[:, 0]\nnp.save('B.npy', B)\nf = h5py.File('B.h5', 'w')\nf['b'] = B\n"
      "f.create_dataset('chunked', data=B, chunks=(50,), compression='gzip')");
  for (auto const* b : {"B.npy", "B.h5:/b", "B.h5:/chunked"}) {
    auto const result = run({"A.npy", b, "X.h5", "--tile", "32", "--check"});
    ASSERT_EQ(result.status, 0) << result.err;
    expect_solved(b);
    EXPECT_EQ(python("print(h5py.File('X.h5')['X'].shape)"), "(150,)\n");
  }
}

TEST_F(SolveCli, NamesTheColumns) {
  if (!have_h5py()) GTEST_SKIP() << "no h5py";
  make_system("f8", true);
  python(
      "B = np.load('B.npy')[:, :3]\nnp.save('B.npy', B)\nf = h5py.File('B.h5', 'w')\nf['B'] = B\n"
      "f['B'].attrs['columns'] = ['rain', 'wind', 'snow']\nC = B.copy()\nC[7, 1] = np.nan\n"
      "f = h5py.File('nan.h5', 'w')\nf['B'] = C\nf['B'].attrs['columns'] = ['rain', 'wind', 'snow']");
  auto const result = run({"A.npy", "B.h5", "X.h5", "--tile", "32", "--check"});
  ASSERT_EQ(result.status, 0) << result.err;
  expect_solved("with names");
  EXPECT_EQ(python("print(list(h5py.File('X.h5')['X'].attrs['columns']))"), "['rain', 'wind', 'snow']\n");
  EXPECT_THAT(result.out, HasSubstr("3: rain, wind, snow\n"));
  EXPECT_THAT(result.out, HasSubstr(" in column 2 (wind)\n"));
  ASSERT_EQ(run({"A.npy", "B.h5", "--spd", "--check", "--json", "out.json"}).status, 1) << "A is not symmetric";
  ASSERT_EQ(run({"A.npy", "B.h5", "--mixed", "--check", "--json", "out.json"}).status, 0);
  auto const json = read_json("out.json");
  EXPECT_EQ(json.at("columns"), (std::vector<std::string>{"rain", "wind", "snow"}));
  auto const residuals = json.at("column_residuals").get<std::vector<double>>();
  ASSERT_EQ(residuals.size(), 3U);
  EXPECT_EQ(*std::ranges::max_element(residuals), json.at("residual"));
  expect_refused({"A.npy", "nan.h5", "X2.h5"}, 2, "nan.h5:/B holds NaN at (7, 1), in column wind");
}

TEST_F(SolveCli, OfManyColumnsTheWorstIsShown) {
  auto const result = run({"general:50", "general:50x30", "--check", "--json", "out.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const text = run({"general:50", "general:50x30", "--check"});
  EXPECT_THAT(text.out, ::testing::ContainsRegex("  the largest +in column [0-9]+\n"));
  auto const json = read_json("out.json");
  EXPECT_EQ(json.at("column_residuals").size(), 30U);
  EXPECT_FALSE(json.contains("columns"));
}

TEST_F(SolveCli, MixedPrecisionFallsBackAndSaysWhy) {
  auto const result = run({"hilbert:30:1e-12", "general:30x2", "--mixed", "--json", "out.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const json = read_json("out.json");
  EXPECT_FALSE(json.at("used_float"));
  EXPECT_NE(json.at("reason"), "");
  EXPECT_THAT(result.out, HasSubstr(json.at("reason").get<std::string>()));
}

TEST_F(SolveCli, ProgressNeverPassesItsTotal) {
  auto const result = run({"random:1500", "general:1500x20", "--spd", "--mixed", "--tile", "50", "--progress", "0.01"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::regex const counted("solving  (\\d+)/(\\d+) tasks.*");
  std::istringstream lines(result.err);
  int totals = 0;
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, counted)) continue;
    ++totals;
    EXPECT_LE(std::stoul(parts[1]), std::stoul(parts[2])) << line;
  }
  EXPECT_GT(totals, 0) << result.err;
}

TEST_F(SolveCli, WritesTheStableKeysOfTheSummary) {
  ASSERT_EQ(run({"general:100", "general:100x3", "--json", "out.json", "--quiet"}).status, 0);
  auto const json = read_json("out.json");
  for (auto const* key : {"n",
                          "nrhs",
                          "method",
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
                          "decision_seconds"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST_F(SolveCli, TheLeastMemoryThatTheMessageNamesIsEnough) {
  expect_least_memory_is_exact({"general:200", "general:200x70", "X.h5", "--tile", "50"});
  expect_least_memory_is_exact({"general:200", "general:200x70", "--tile", "50", "--mixed"});
  expect_least_memory_is_exact({"random:200", "general:200x2", "--tile", "50", "--spd", "--check"});
  expect_least_memory_is_exact({"random:200", "general:200x2", "--tile", "50", "--spd", "--mixed"});
  expect_least_memory_is_exact({"random:200", "general:200x1", "--tile", "60", "--spd", "--check"});
  expect_least_memory_is_exact({"random:200", "general:200x1", "--tile", "200", "--spd", "--mixed"});
  expect_least_memory_is_exact({"general:200", "general:200x1", "--tile", "200", "--mixed"});
}

TEST_F(SolveCli, RefusesBadInput) {
  expect_refused({"general:100"}, 2, "B");
  expect_refused({"general:100", "missing.npy", "X.h5"}, 2, "missing.npy");
  expect_refused({"general:100", "general:50x2", "X.h5"}, 2, "50 rows");
  expect_refused({"general:100x50", "general:100x2", "X.h5"}, 2, "not square");
  expect_refused({"general:100", "general:100x2", "X.h5", "--mixed", "--float"}, 2, "--mixed");
  expect_refused({"general:100", "general:100x2", "--unknown"}, 2, "--unknown");
  expect_refused({"general:100", "general:100x2", "X.h5", "--spd"}, 1, "not positive definite");
  expect_refused({"general:100", "general:100x2", "X.h5", "--spd", "--mixed"}, 1, "is not positive\n");
  if (!have_h5py()) return;
  python(R"(
A = np.eye(64)
A[40, 40] = 0
np.save('singular.npy', A)
B = np.ones((64, 3))
np.save('B.npy', B)
B[33, 1] = np.nan
np.save('nan.npy', B)
np.save('single.npy', B.astype('f4'))
)");
  expect_refused({"singular.npy", "B.npy", "X.h5", "--tile", "16"}, 1, "pivot 41");
  expect_refused({"singular.npy", "B.npy", "X.h5", "--tile", "16", "--mixed"}, 1, "pivot 41");
  expect_refused({"general:64", "nan.npy", "X.h5", "--tile", "16"}, 2, "(33, 1)");
  expect_refused({"general:64", "single.npy", "X.h5"}, 2, "convert");
  expect_refused({"general:64", "B.npy", "B.npy"}, 2, "the output B.npy is an HDF5 file");
  python("h5py.File('B.h5', 'w')['B'] = np.ones((64, 3))");
  expect_refused({"general:64", "B.h5", "B.h5"}, 2, "same file");
  expect_refused({"general:64", "B.npy", "X.h5:/x"}, 2, "it will hold dataset X; write X.h5");
}

TEST_F(SolveCli, ASignalLeavesNothingBehind) {
  expect_signal_leaves_nothing({"general:2000", "general:2000x500", "X.h5", "--tile", "128", "--memory", "2MiB"},
                               "X.h5");
}

TEST_F(SolveCli, KeepsItsMemoryLimit) {
  expect_limit_kept({"general:1", "general:1", "--tile", "128", "--quiet"},
                    {"general:2048", "general:2048x100", "X.h5", "--tile", "128"}, 8L << 20);
}

}  // namespace
}  // namespace granary
