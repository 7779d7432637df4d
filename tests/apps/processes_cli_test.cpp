// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs as several processes of MPI.
#ifdef GRANARY_TEST_MPIRUN
#include "apps/cli_test.hpp"

#include <chrono>
#include <sstream>

namespace granary::testing {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Arguments = std::vector<std::string>;

class ProcessesCli : public CliTest {
 protected:
  ProcessesCli() : CliTest("granary-cholesky") {}

  static Arguments command(int processes, std::string const& program, Arguments const& arguments) {
    Arguments all{"OMPI_ALLOW_RUN_AS_ROOT=1",
                  "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                  "OMPI_MCA_rmaps_base_oversubscribe=1",
                  "OMPI_MCA_mpi_yield_when_idle=1",
                  "OMPI_MCA_hwloc_base_binding_policy=none",
                  GRANARY_TEST_MPIRUN,
                  "-np",
                  std::to_string(processes),
                  GRANARY_BIN_DIR "/" + program};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--workers", "1"});
    return all;
  }
  ChildResult run_all(int processes, std::string const& program, Arguments const& arguments,
                      ChildOptions options = {}) const {
    options.directory = m_directory.path();
    return run_child("/usr/bin/env", command(processes, program, arguments), options);
  }
  // One process prints one sentence. The launcher adds its own lines.
  void expect_all_refused(int processes, std::string const& program, Arguments const& arguments, int status,
                          std::string const& part) const {
    auto const before = m_directory.files();
    auto const result = run_all(processes, program, arguments);
    EXPECT_EQ(result.status, status) << result.err;
    std::istringstream lines(result.err);
    int said = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(program + ": ")) continue;
      ++said;
      EXPECT_THAT(line, HasSubstr(part));
    }
    EXPECT_EQ(said, 1) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("ends all")));
    EXPECT_EQ(m_directory.files(), before);
  }
  void generate(std::string const& kind, std::string const& size, std::string const& name) const {
    auto const result = run_child(GRANARY_BIN_DIR "/granary-matrix", {"generate", kind, size, name, "--tile", "50"},
                                  {.directory = m_directory.path()});
    ASSERT_EQ(result.status, 0) << result.err;
  }
};

TEST_F(ProcessesCli, TheFactorOfAFileHasTheSameBits) {
  generate("spd", "620", "A.h5");
  ASSERT_EQ(run({"A.h5", "L.h5", "--tile", "50", "--workers", "1", "--quiet"}).status, 0);
  for (int const processes : {2, 4}) {
    auto const result =
        run_all(processes, "granary-cholesky",
                {"A.h5", "L2.h5", "--tile", "50", "--memory", "700kB", "--check", "--json", "out.json"});
    ASSERT_EQ(result.status, 0) << result.err;
    auto const json = read_json("out.json");
    EXPECT_EQ(json.at("processes"), processes);
    EXPECT_EQ(json.at("grid"), processes == 2 ? "1x2" : "2x2");
    EXPECT_EQ(json.at("workers"), processes);
    EXPECT_LT(json.at("residual"), 1);
    EXPECT_LE(json.at("memory_peak_bytes"), 700'000);
    EXPECT_GT(json.at("bytes_sent"), 0);
    EXPECT_THAT(result.out, HasSubstr("processes"));
    EXPECT_EQ(result.out.find("matrix "), result.out.rfind("matrix ")) << "it is printed once";
    if (have_h5py()) {
      EXPECT_EQ(python("print(np.array_equal(h5py.File('L.h5')['L'][:], h5py.File('L2.h5')['L'][:]))"), "True\n");
    }
  }
}

TEST_F(ProcessesCli, OtherProgramsFactorAndSolve) {
  generate("spd", "310", "A.h5");
  generate("general", "310x3", "B.h5");
  auto const solved = run_all(3, "granary-solve", {"A.h5", "B.h5", "X.h5", "--spd", "--check", "--json", "out.json"});
  ASSERT_EQ(solved.status, 0) << solved.err;
  EXPECT_LT(read_json("out.json").at("residual"), 1);
  auto const factored =
      run_all(3, "granary-lu", {"A.h5", "LU.h5", "--no-pivoting", "--grid", "3x1", "--check", "--json", "out.json"});
  ASSERT_EQ(factored.status, 0) << factored.err;
  auto const json = read_json("out.json");
  EXPECT_LT(json.at("residual"), 1);
  auto const alone = run_child(GRANARY_BIN_DIR "/granary-lu", {"A.h5", "--no-pivoting", "--json", "one.json"},
                               {.directory = m_directory.path()});
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(json.at("growth"), read_json("one.json").at("growth"));
  EXPECT_EQ(json.at("grid"), "3x1");
  EXPECT_THAT(m_directory.files(), ::testing::IsSupersetOf({"X.h5", "LU.h5"}));
}

TEST_F(ProcessesCli, TheLeastMemoryThatIsNamedIsEnough) {
  Arguments arguments{"random:500", "--tile", "50", "--check", "--memory", "1"};
  auto const refused = run_all(4, "granary-cholesky", arguments);
  ASSERT_EQ(refused.status, 2) << refused.err;
  auto const start = refused.err.find("(--memory ") + 10;
  auto const least = refused.err.substr(start, refused.err.find(')', start) - start);
  for (auto const* scheduler : {"auto", "prio", "darts"}) {
    arguments.back() = least;
    auto tried = arguments;
    tried.insert(tried.end(), {"--scheduler", scheduler});
    auto const result = run_all(4, "granary-cholesky", tried);
    EXPECT_EQ(result.status, 0) << scheduler << " with " << least << ": " << result.err;
  }
  arguments.back() = std::to_string(std::stoull(least) - 1);
  expect_all_refused(4, "granary-cholesky", arguments, 2, "is too small");
}

TEST_F(ProcessesCli, AFailureIsPrintedOnceAndLeavesNoOutput) {
  generate("laplacian", "200", "A.h5");
  auto const before = m_directory.files();
  expect_all_refused(3, "granary-cholesky", {"none.h5", "L.h5"}, 2, "cannot open none.h5: No such file");
  expect_all_refused(3, "granary-lu", {"A.h5", "L.h5"}, 2, "without row exchanges only: add --no-pivoting");
  expect_all_refused(3, "granary-solve", {"A.h5", "A.h5", "X.h5"}, 2, "without row exchanges only: add --spd");
  expect_all_refused(3, "granary-cholesky", {"A.h5", "L.h5", "--grid", "2x2"}, 2,
                     "--grid 2x2 has 4 processes, and there are 3");
  expect_refused({"A.h5", "L.h5", "--grid", "2x2"}, 2, "start the program with mpirun or srun");
  expect_refused({"A.h5", "L.h5", "--grid", "2"}, 2, "malformed grid '2'");
  if (!have_h5py()) return;
  python("f = h5py.File('A.h5', 'r+'); f['A'][150, 150] = -1");
  expect_all_refused(3, "granary-cholesky", {"A.h5", "L.h5", "--tile", "50"}, 1,
                     "granary-cholesky: the matrix is not positive definite: its leading minor of order 151");
  EXPECT_EQ(m_directory.files(), before);
}

// Each process gets arguments of its own, as where a file differs from node to node.
TEST_F(ProcessesCli, DifferentMatricesAreRefusedInOneSentence) {
  generate("spd", "300", "A0.h5");
  generate("spd", "260", "A1.h5");
  auto const before = m_directory.files();
  auto const expect_refused_by_all = [&](std::string const& first, std::string const& other, std::string const& part) {
    auto const of = [&](std::string const& arguments) {
      return GRANARY_BIN_DIR "/granary-cholesky " + arguments + " L.h5 --tile 50 --workers 1 --memory 8MiB";
    };
    auto all = command(2, "", {});
    all.resize(all.size() - 3);  // without a program
    all.insert(all.end(), {"/bin/sh", "-c",
                           "if [ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 0 ]; then exec " + of(first) + "; else exec " +
                               of(other) + "; fi"});
    auto const result = run_child("/usr/bin/env", all, {.directory = m_directory.path()});
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("granary-cholesky: " + part));
    EXPECT_EQ(result.err.find("granary-cholesky: "), result.err.rfind("granary-cholesky: ")) << result.err;
    EXPECT_EQ(m_directory.files(), before);
  };
  expect_refused_by_all("A0.h5", "A1.h5",
                        "process 1 has a 260 x 260 matrix of double, but process 0 has a 300 x 300 matrix of double: "
                        "each process must be given the same matrix\n");
  expect_refused_by_all("random:300", "random:300 --float",
                        "process 1 has a 300 x 300 matrix of float (random:300), but");
  expect_refused_by_all("random:300", "A0.h5", "process 1 has a 300 x 300 matrix of double, but");
  expect_refused_by_all("A0.h5", "A0.h5 --check", "process 1 has ");
}

TEST_F(ProcessesCli, ASignalEndsAllAndLeavesNothing) {
  auto const result = run_all(3, "granary-cholesky", {"random:2000", "L.h5", "--disk-bandwidth", "4MB/s"},
                              {.signal = SIGTERM, .signal_when = "L.h5.partial"});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("granary-cholesky: interrupted"));
  EXPECT_TRUE(m_directory.files().empty());
}

TEST_F(ProcessesCli, IfOneIsKilledTheOthersEndSoonWithoutAnOutput) {
  std::string line;
  for (auto const& word : command(3, "granary-cholesky", {"random:2000", "L.h5", "--disk-bandwidth", "4MB/s"}))
    line += word + " ";
  auto const script = "env " + line +
                      "& while [ ! -e L.h5.partial ]; do sleep 0.05; done; kill -9 $(pgrep -n -f '[g]ranary-cholesky "
                      "random:2000 L.h5'); wait $!";
  auto const start = std::chrono::steady_clock::now();
  auto const result = run_child("/usr/bin/timeout", {"20", "/bin/sh", "-c", script}, {.directory = m_directory.path()});
  EXPECT_NE(result.status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << result.err;
  EXPECT_THAT(m_directory.files(), Not(::testing::Contains("L.h5")));
}

}  // namespace
}  // namespace granary::testing
#endif
