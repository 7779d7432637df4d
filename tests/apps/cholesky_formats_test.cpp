// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// granary reads what h5py and numpy write, and h5py reads what granary writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/child.hpp"

namespace granary::cholesky_formats_test {

namespace {

using ::testing::HasSubstr;

std::string const program = GRANARY_BIN_DIR "/granary-cholesky";

class CholeskyFormats : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::run_child(GRANARY_PYTHON, {"-c", "import h5py, numpy"}).status != 0) GTEST_SKIP() << "no h5py";
  }
  // Runs Python with numpy as np, h5py, and a symmetric positive definite A of order 300.
  std::string python(std::string const& script) const {
    std::string const start = R"(
import h5py, numpy as np
g = np.random.default_rng(1).uniform(-1, 1, (300, 300))
A = g @ g.T + 300 * np.eye(300)
)";
    auto const result = testing::run_child(GRANARY_PYTHON, {"-c", start + script}, {.directory = m_directory.path()});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  testing::ChildResult run(std::vector<std::string> const& arguments) const {
    return testing::run_child(program, arguments, {.directory = m_directory.path()});
  }
  // Factors the input under 100 kB and compares with numpy's factor of A.
  void expect_factored(std::string const& input, std::string const& tolerance = "1e-12") const {
    auto const result = run({input, "L.h5", "--memory", "150KB", "--tile", "64"});
    ASSERT_EQ(result.status, 0) << input << ": " << result.err;
    EXPECT_EQ(python("L = h5py.File('L.h5')['L'][:]\nR = np.linalg.cholesky(A)\nassert L.shape == R.shape\n"
                     "print(bool(np.all(np.triu(L, 1) == 0) and np.abs(L - R).max() < " +
                     tolerance + " * np.abs(R).max()))"),
              "True\n")
        << input;
  }

  testing::TemporaryDirectory m_directory;
};

TEST_F(CholeskyFormats, EveryLayoutOfHdf5) {
  python(R"(
f = h5py.File('A.h5', 'w')
f['contiguous'] = A
f.create_dataset('tiles', data=A, chunks=(64, 64))
f.create_dataset('small', data=A, chunks=(17, 5))
f.create_dataset('automatic', data=A, chunks=True)
f.create_dataset('gzip', data=A, chunks=(50, 50), compression='gzip', shuffle=True)
f.create_dataset('group/big_endian', data=A, dtype='>f8')
)");
  for (auto const* dataset : {"contiguous", "tiles", "small", "automatic", "gzip", "group/big_endian"}) {
    expect_factored("A.h5:/" + std::string(dataset));
  }
}

TEST_F(CholeskyFormats, AFileMayBeNamedLikeAGeneratedMatrix) {
  python("with h5py.File('run:1.h5', 'w') as f: f['A'] = A");
  expect_factored("run:1.h5");
  expect_factored("run:1.h5:/A");
  EXPECT_THAT(run({"run:2.h5"}).err, HasSubstr("cannot open"));
  EXPECT_THAT(run({"rundom:300"}).err, HasSubstr("'rundom:300' is not a generated matrix"));
}

TEST_F(CholeskyFormats, FloatsAndNpy) {
  python(R"(
h5py.File('single.h5', 'w')['A'] = A.astype('f4')
np.save('A.npy', A)
np.save('fortran.npy', np.asfortranarray(A))
np.save('single.npy', A.astype('f4'))
)");
  expect_factored("A.npy");
  expect_factored("fortran.npy");
  expect_factored("single.h5", "1e-5");
  expect_factored("single.npy", "1e-5");
}

TEST_F(CholeskyFormats, ComplexMatricesAndBothTriangles) {
  python(R"(
H = g + 1j * np.random.default_rng(2).uniform(-1, 1, (300, 300))
H = H @ H.conj().T + 300 * np.eye(300)
np.save('double.npy', H)
np.save('single.npy', H.astype('c8'))
)");
  for (std::string const name : {"double", "single"}) {
    for (bool const upper : {false, true}) {
      std::vector<std::string> arguments{name + ".npy", "F.h5", "--memory", "200KB", "--tile", "64", "--check"};
      if (upper) arguments.emplace_back("--upper");
      auto const result = run(arguments);
      ASSERT_EQ(result.status, 0) << name << ": " << result.err;
      std::string const factor = upper ? "F = h5py.File('F.h5')['U'][:].conj().T\n" : "F = h5py.File('F.h5')['L'][:]\n";
      EXPECT_EQ(python("H = np.load('" + name + ".npy')\n" + factor +
                       "R = np.linalg.cholesky(H.astype('c16'))\nassert F.dtype == H.dtype\n"
                       "print(bool(np.all(np.triu(F, 1) == 0) and np.abs(F - R).max() < 1e4 * np.finfo(H.dtype).eps * "
                       "np.abs(R).max()))"),
                "True\n")
          << name << upper;
    }
  }
}

TEST_F(CholeskyFormats, OnlyTheLowerTriangleIsRead) {
  python("B = np.tril(A) + np.triu(np.full_like(A, np.nan), 1)\nh5py.File('A.h5', 'w')['A'] = B");
  expect_factored("A.h5");
}

TEST_F(CholeskyFormats, BadMatricesAreRefused) {
  python(R"(
f = h5py.File('bad.h5', 'w')
f['rectangle'] = A[:200]
f['vector'] = A[0]
f['integers'] = A.astype('i8')
B = A.copy(); B[250, 17] = np.nan; f['nan'] = B
C = A.copy(); C[299, 299] = np.inf; f['infinity'] = C
D = A.copy(); D[133, 133] = -1; f['indefinite'] = D
)");
  auto const expect = [&](std::string const& dataset, int status, std::string const& part) {
    auto const result = run({"bad.h5:/" + dataset, "L.h5", "--tile", "64"});
    EXPECT_EQ(result.status, status) << dataset << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(part)) << dataset;
    EXPECT_THAT(m_directory.files(), ::testing::ElementsAre("bad.h5"));
  };
  expect("rectangle", 2, "200 rows and 300 columns");
  expect("vector", 2, "300 rows and 1 columns");
  expect("integers", 2, "integers");
  expect("nan", 2, "(250, 17)");
  expect("infinity", 2, "(299, 299)");
  expect("indefinite", 1, "order 134");
  expect("missing", 2, "/rectangle");
  auto const several = run({"bad.h5", "L.h5"});
  EXPECT_EQ(several.status, 2);
}

}  // namespace
}  // namespace granary::cholesky_formats_test
