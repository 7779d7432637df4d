// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <csignal>
#include <fstream>

#include "apps/child.hpp"

namespace granary {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Arguments = std::vector<std::string>;

class MatrixCli : public ::testing::Test {
 protected:
  testing::ChildResult run(Arguments const& arguments) const {
    return testing::run_child(GRANARY_BIN_DIR "/granary-matrix", arguments, {.directory = m_directory.path()});
  }
  void expect_success(Arguments const& arguments) const {
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
  }
  // One line on standard error, and no new file.
  void expect_refused(Arguments const& arguments, std::string const& message) const {
    auto const before = m_directory.files();
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, StartsWith("granary-matrix: "));
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(m_directory.files(), before);
  }
  void write(std::string const& name, std::string const& text) const {
    std::ofstream(m_directory.path() / name) << text;
  }
  [[nodiscard]] std::string file(std::string const& name) const { return (m_directory.path() / name).string(); }

  testing::TemporaryDirectory m_directory;
};

/// granary reads what h5py, numpy and scipy write, and they read what granary writes.
class MatrixCliFormats : public MatrixCli {
 protected:
  void SetUp() override {
    if (testing::run_child(GRANARY_PYTHON, {"-c", "import h5py, numpy"}).status != 0) GTEST_SKIP() << "no h5py";
  }
  // Runs Python with numpy as np, h5py, and `load`, which returns the matrix in a file; returns the output.
  std::string python(std::string const& script) const {
    std::string const start = R"(
import h5py, numpy as np
def load(name):
    return np.load(name) if name.endswith('.npy') else h5py.File(name)['A'][:]
)";
    auto const result = testing::run_child(GRANARY_PYTHON, {"-c", start + script}, {.directory = m_directory.path()});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
};

TEST_F(MatrixCli, GeneratesInChunks) {
  expect_success({"generate", "spd", "300", "A.h5", "--tile", "64", "--float"});
  EXPECT_THAT(m_directory.files(), ElementsAre("A.h5"));
  auto const info = open_matrix_file(file("A.h5"));
  EXPECT_EQ(info.rows, 300U);
  EXPECT_EQ(info.chunk_rows, 64U);
  EXPECT_EQ(info.scalar_type, ScalarType::Float32);
}

TEST_F(MatrixCliFormats, GeneratedSpdMatricesHaveTheElementsOfTheLibrary) {
  expect_success({"generate", "spd", "50", "A.h5", "--seed", "3", "--tile", "16"});
  auto const text =
      python("A = load('A.h5')\nprint(A.shape, repr(float(A[40, 3])), repr(float(A[3, 40])), repr(float(A[7, 7])))");
  auto const number = [](double x) { return nlohmann::json(x).dump(); };
  auto const off_diagonal = number(spd_entry(50, 3, 40, 3));
  EXPECT_EQ(text, "(50, 50) " + off_diagonal + " " + off_diagonal + " " + number(spd_entry(50, 3, 7, 7)) + "\n");
}

TEST_F(MatrixCliFormats, GeneratedMatricesAreWhatTheyAreCalled) {
  expect_success({"generate", "spd", "150", "S.h5", "--condition", "1e6", "--tile", "40"});
  expect_success({"generate", "spd", "150", "C.npy", "--condition", "1e4", "--complex", "--seed", "9"});
  expect_success({"generate", "general", "70x31", "G.npy", "--complex", "--float"});
  expect_success({"generate", "hilbert", "20", "H.npy", "--nugget", "0.5"});
  expect_success({"generate", "laplacian", "8x12", "L.h5", "--length", "3", "--nugget", "0.1"});
  EXPECT_EQ(python(R"(
for name, condition in ('S.h5', 1e6), ('C.npy', 1e4):
    A = load(name)
    assert np.array_equal(A, A.conj().T)
    e = np.linalg.eigvalsh(A)
    assert abs(e[-1] - 1) < 1e-10 and abs(e[0] * condition - 1) < 1e-6, e
assert load('C.npy').dtype == np.complex128
G = load('G.npy')
assert G.dtype == np.complex64 and G.shape == (70, 31) and abs(G.real).max() <= 1 and abs(G.imag).max() > 0.9
i, j = np.indices((20, 20))
assert np.allclose(load('H.npy'), 1 / (i + j + 1) + np.eye(20) / 2, rtol=0, atol=1e-15)
p = np.array([(k // 12, k % 12) for k in range(96)])
d = np.sqrt(((p[:, None] - p[None]) ** 2).sum(-1))
assert np.allclose(load('L.h5'), np.exp(-d / 3) + 0.1 * np.eye(96), rtol=0, atol=1e-15)
print('right')
)"),
            "right\n");
}

TEST_F(MatrixCliFormats, ConvertsEveryFormatIntoEveryOther) {
  python(R"(
g = np.random.default_rng(1)
R = g.uniform(-1, 1, (70, 45))
Z = R + 1j * g.uniform(-1, 1, (70, 45))
for name, A in dict(d=R, s=R.astype('f4'), z=Z, c=Z.astype('c8')).items():
    np.save(name + '.npy', A)
    np.save(name + '_fortran.npy', np.asfortranarray(A.astype(A.dtype.newbyteorder('>'))))
    with h5py.File(name + '.h5', 'w') as f:
        f['A'] = A
    with h5py.File(name + '_gzip.h5', 'w') as f:
        f.create_dataset('A', data=A, chunks=(17, 10), compression='gzip')
)");
  for (std::string const name : {"d", "s", "z", "c"}) {
    for (std::string const input : {".npy", "_fortran.npy", ".h5", "_gzip.h5"}) {
      expect_success({"convert", name + input, "out.h5", "--tile", "16"});
      expect_success({"convert", name + input, "out.npy", "--memory", "12KiB"});
      EXPECT_EQ(python("A = load('" + name +
                       ".npy')\nfor n in 'out.h5', 'out.npy':\n"
                       "    B = load(n)\n    print(B.dtype == A.dtype and np.array_equal(A, B))"),
                "True\nTrue\n")
          << name << input;
    }
    expect_success({"convert", name + ".h5", name + ".mtx", "--memory", "40KiB"});
    expect_success({"convert", name + ".mtx", "back.h5", "--tile", "16", "--memory", "8KiB"});
    expect_success({"convert", name + ".h5", "narrow.npy", "--float"});
    expect_success({"convert", name + ".h5", "wide.h5", "--double"});
    EXPECT_EQ(python("A = load('" + name + R"(.npy')
complex = np.iscomplexobj(A)
print(np.array_equal(load('back.h5').astype(A.dtype), A))
B, C = load('narrow.npy'), load('wide.h5')
print(np.array_equal(B, A.astype(B.dtype)) and B.dtype == ('c8' if complex else 'f4'))
print(np.array_equal(C, A) and C.dtype == ('c16' if complex else 'f8'))
)"),
              "True\nTrue\nTrue\n")
        << name;
  }
}

TEST_F(MatrixCliFormats, ScipyReadsMatrixMarketFilesAndWritesThem) {
  if (testing::run_child(GRANARY_PYTHON, {"-c", "import scipy.io"}).status != 0) GTEST_SKIP() << "no scipy";
  expect_success({"generate", "general", "20x30", "G.mtx", "--complex"});
  expect_success({"convert", "G.mtx", "G.npy"});
  python(R"(
import scipy.io, scipy.sparse
assert np.array_equal(scipy.io.mmread('G.mtx'), load('G.npy'))
g = np.random.default_rng(1)
A = g.uniform(-1, 1, (40, 40)) + 1j * g.uniform(-1, 1, (40, 40))
np.save('h.npy', A + A.conj().T)
scipy.io.mmwrite('h.mtx', A + A.conj().T, symmetry='hermitian', precision=17)
S = scipy.sparse.random(40, 40, 0.1, random_state=1).tocoo()
np.save('k.npy', (S - S.T).toarray())
scipy.io.mmwrite('k.mtx', S - S.T, symmetry='skew-symmetric', precision=17)
np.save('p.npy', (S + S.T).toarray())
scipy.io.mmwrite('p.mtx', S + S.T, symmetry='symmetric', precision=17)
)");
  for (std::string const name : {"h", "k", "p"}) {
    expect_success({"convert", name + ".mtx", "out.h5", "--memory", "12KiB", "--tile", "16"});
    EXPECT_EQ(python("print(np.array_equal(load('out.h5'), load('" + name + ".npy')))"), "True\n") << name;
  }
}

TEST_F(MatrixCli, ConvertsMatricesThatAreComputed) {
  expect_success({"convert", "general:30x20:5", "A.h5", "--tile", "8", "--dataset", "group/G"});
  EXPECT_EQ(open_matrix_file(file("A.h5")).dataset, "/group/G");
}

TEST_F(MatrixCli, Info) {
  expect_success({"generate", "general", "70x31", "A.h5", "--tile", "16", "--complex", "--float"});
  expect_success({"generate", "hilbert", "10", "H.npy"});
  write("M.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n5 5 1\n2 1 3\n");
  EXPECT_EQ(run({"info", "A.h5"}).out, "A.h5:/A: 70 x 31 complex float, 17.0 KiB, chunks of 16 x 16\n");
  EXPECT_EQ(run({"info", "H.npy"}).out, "H.npy: 10 x 10 double, 800 B, row by row\n");
  EXPECT_EQ(run({"info", "M.mtx"}).out, "M.mtx: 5 x 5 double, 200 B, Matrix Market coordinate, symmetric, 1 entries\n");
  auto const json = nlohmann::json::parse(run({"info", "A.h5:/A", "--json"}).out);
  EXPECT_EQ(json["matrices"].size(), 1U);
  EXPECT_EQ(json["matrices"][0]["cols"], 31);
  EXPECT_EQ(json["matrices"][0]["bytes"], 70 * 31 * 8);
  EXPECT_THAT(json["others"], IsEmpty());
}

TEST_F(MatrixCliFormats, InfoListsEveryDataset) {
  python(R"(
with h5py.File('A.h5', 'w') as f:
    f['a'] = np.zeros((3, 4))
    f['g/b'] = np.zeros((3, 4), '>c16')
    f['i'] = np.zeros((3, 4), int)
    f['t'] = np.zeros((3, 1, 2))
    f['v'] = np.zeros(3)
h5py.File('empty.h5', 'w')
)");
  EXPECT_EQ(run({"info", "A.h5"}).out,
            "A.h5:/a: 3 x 4 double, 96 B, row by row\n"
            "A.h5:/g/b: 3 x 4 complex double, 192 B, read through HDF5\n"
            "A.h5:/v: vector of 3 double, 24 B, contiguous\n"
            "not a matrix: A.h5:/i holds integers of 8 bytes; real and complex float and double can be read\n"
            "not a matrix: A.h5:/t has 3 dimensions; a matrix has 2, a vector 1\n");
  EXPECT_EQ(run({"info", "empty.h5"}).out, "empty.h5 holds no dataset\n");
}

TEST_F(MatrixCliFormats, InfoShowsNamesThatATerminalWouldObey) {
  python(R"(
with h5py.File('A.h5', 'w') as f:
    f['\x1b[31mred'] = np.zeros((2, 3))
    f['\x1b[32mgreen'] = np.zeros((3, 1, 2))
    f['\x1b[31mred'].attrs['columns'] = ['\x1b[33m', 'y', 'z']
)");
  auto const result = run({"info", "A.h5"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("A.h5:/\\x1b[31mred: 2 x 3 double"));
  EXPECT_THAT(result.out, HasSubstr("columns \\x1b[33m, y, z"));
  EXPECT_THAT(result.out, HasSubstr("A.h5:/\\x1b[32mgreen has 3 dimensions"));
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  expect_refused({"info", "\x1b]0;title\a.npy"}, "cannot open \\x1b]0;title\\x07.npy");
}

TEST_F(MatrixCliFormats, WhatHasMoreBytesThanCanBeCountedIsNoMatrix) {
  python(R"(
with h5py.File('A.h5', 'w') as f:
    f.create_dataset('A', (2**33, 2**33), chunks=(64, 64))
)");
  auto const result = run({"info", "A.h5"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("not a matrix: A.h5:/A has 8589934592 x 8589934592 elements of 4 bytes"));
  expect_refused({"generate", "general", "2147483647", "out.npy"},
                 "an array of 2147483647 x 2147483647 elements of 8 bytes is too large");
}

TEST_F(MatrixCliFormats, ConvertsCsvFilesAndKeepsTheNames) {
  python(R"(
g = np.random.default_rng(1)
A = g.normal(0, 1e3, (1000, 7))
np.save('A.npy', A)
np.savetxt('A.csv', A, delimiter=',', header='a,b,"c, d",e,f,g,h', comments='', fmt='%r')
np.savetxt('A.tsv', A, delimiter='\t', fmt='%r')
open('A.txt', 'w').write(open('A.csv').read().replace(',', '|'))
)");
  std::string const same = "print(np.array_equal(load('B.h5'), load('A.npy')))";
  expect_success({"convert", "A.csv", "B.h5", "--tile", "32"});
  EXPECT_EQ(python(same + "\nprint(list(h5py.File('B.h5')['A'].attrs['columns']))"),
            "True\n['a', 'b', 'c, d', 'e', 'f', 'g', 'h']\n");
  EXPECT_EQ(run({"info", "B.h5"}).out,
            "B.h5:/A: 1000 x 7 double, 54.7 KiB, chunks of 32 x 7, columns a, b, c, d, e, f, g, h\n");
  auto const json = nlohmann::json::parse(run({"info", "A.csv", "--json"}).out)["matrices"][0];
  EXPECT_EQ(json["rows"], 1000);
  EXPECT_EQ(json["columns"][2], "c, d");
  expect_success({"convert", "B.h5", "C.h5", "--float"});
  EXPECT_EQ(python("print(len(h5py.File('C.h5')['A'].attrs['columns']))"), "7\n");
  expect_success({"convert", "A.tsv", "B.h5", "--memory", "8KiB"});
  EXPECT_EQ(python(same + "\nprint('columns' in h5py.File('B.h5')['A'].attrs)"), "True\nFalse\n");
  expect_success({"convert", "A.txt", "B.h5", "--separator", "|", "--columns", "h,\"c| d\",1-2"});
  EXPECT_EQ(python("print(np.array_equal(load('B.h5'), load('A.npy')[:, [6, 2, 0, 1]]))"), "True\n");
  expect_success({"convert", "A.csv", "B.npy", "--float"});
  EXPECT_EQ(python("print(np.array_equal(load('B.npy'), load('A.npy').astype('f4')))"), "True\n");
}

TEST_F(MatrixCliFormats, VectorsStayVectors) {
  python("b = np.arange(100.0)\nnp.save('b.npy', b)\nh5py.File('b.h5', 'w').create_dataset('b', data=b, chunks=(7,))");
  EXPECT_EQ(run({"info", "b.npy"}).out, "b.npy: vector of 100 double, 800 B, contiguous\n");
  EXPECT_EQ(run({"info", "b.h5"}).out, "b.h5:/b: vector of 100 double, 800 B, chunks of 7\n");
  for (std::string const input : {"b.npy", "b.h5", "b.h5:b"}) {
    expect_success({"convert", input, "out.h5"});
    expect_success({"convert", input, "out.npy", "--tile", "16"});
    EXPECT_EQ(python("print(np.array_equal(load('out.h5'), load('b.npy')), np.array_equal(load('out.npy'), "
                     "load('b.npy')))"),
              "True True\n");
  }
}

TEST_F(MatrixCli, RefusesBadCsvFiles) {
  write("A.csv", "x,y,x\n1,2,3\n4,,6\n");
  write("A.txt", "1,2\n3,4\n");
  expect_refused({"convert", "A.csv", "A.h5"}, "columns 1 and 3 of A.csv have the same name 'x'");
  expect_refused({"convert", "A.csv", "A.h5", "--columns", "2-3"}, "A.csv, line 3, column 2 (y): the value is missing");
  expect_refused({"convert", "A.csv", "A.npy", "--columns", "y,z"}, "A.csv has no column 'z'; it has x, y, x");
  expect_refused({"convert", "A.csv", "A.npy", "--columns", "\"y"}, "a quote has no end in the columns '\"y'");
  expect_refused({"convert", "A.csv", "A.h5", "--columns", ""}, "the value of --columns is empty");
  expect_refused({"convert", "A.csv", "A.mtx", "--columns", "3"}, "not to Matrix Market: convert A.csv to a .npy file");
  expect_refused({"convert", "A.csv", "A.h5", "--separator", "1"}, "the separator is '1', neither tab nor one of ,;|");
  expect_refused({"convert", "A.txt", "A.h5", "--columns", "1"}, "--columns and --header apply to CSV files");
  expect_refused({"convert", "A.txt", "A.h5"}, "A.txt is neither an HDF5 nor a .npy file");
  expect_refused({"convert", "spd:10:10", "A.h5", "--header"}, "--columns and --header apply to CSV files");
  expect_refused({"convert", "A.txt", "A.h5", "--separator", ",", "--memory", "4KiB", "--tile", "1"},
                 "a row of tiles of 1 x 2 elements needs 8.0 KiB, more than the memory limit of 4.0 KiB");
  expect_refused({"info", "none.csv"}, "cannot open none.csv");
  EXPECT_EQ(run({"info", "A.txt"}).status, 2);
}

TEST_F(MatrixCli, RefusesBadArguments) {
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
  write("text.npy", "this is text");
  for (Arguments const& arguments : std::vector<Arguments>{{},
                                                           {"frobnicate"},
                                                           {"info"},
                                                           {"convert"},
                                                           {"convert", "A.mtx"},
                                                           {"generate"},
                                                           {"generate", "spd", "300"},
                                                           {"generate", "spd", "0", "A.h5"},
                                                           {"generate", "spd", "many", "A.h5"},
                                                           {"generate", "spd", "3x4", "A.h5"},
                                                           {"generate", "spd", "300", "A.h5", "--tile", "0"},
                                                           {"generate", "spd", "300", "/no/such/place/A.h5"},
                                                           {"generate", "random", "300", "A.h5"},
                                                           {"generate", "spd", "3", "A.h5", "--float", "--double"},
                                                           {"generate", "spd", "3", "A.h5", "--condition", "0.5"},
                                                           {"generate", "laplacian", "3", "A.h5", "--length", "0"},
                                                           {"generate", "laplacian", "3", "A.h5", "--nugget", "-1"},
                                                           {"generate", "spd", "3", "A.h5", "--memory", "none"},
                                                           {"generate", "spd", "3", "A.h5", "--memory", "0"},
                                                           {"generate", "spd", "3", "A.h5", "--dataset", "/"}})
    expect_refused(arguments, "");
  expect_refused({"info", "none.h5"}, "cannot open none.h5: No such file or directory");
  expect_refused({"info", "."}, "not a regular file");
  expect_refused({"info", "text.npy"}, "text.npy is neither an HDF5 nor a .npy file");
  expect_refused({"generate", "hilbert", "3", "A.h5", "--seed", "2"}, "--seed does not apply to hilbert");
  expect_refused({"generate", "general", "3", "A.h5", "--condition", "2"}, "--condition does not apply to general");
  expect_refused({"generate", "spd", "-5", "A.h5"}, "malformed size '-5' of a matrix spd: write N with extents from 1");
  expect_refused({"generate", "general", "5x", "A.h5"},
                 "malformed size '5x' of a matrix general: write N or ROWSxCOLS");
  expect_refused({"generate", "spd", "3", "A.dat"},
                 "the name of the output A.dat does not end in .h5, .hdf5, .npy or .mtx");
  expect_refused({"generate", "spd", "3", "A.npy", "--dataset", "B"}, "--dataset needs an HDF5 file as output");
  expect_refused({"generate", "spd", "99999", "A.h5", "--tile", "8192", "--memory", "100MiB"},
                 "a tile of 8192 x 8192 elements needs 512.0 MiB, more than the memory limit of 100.0 MiB");
  expect_refused({"convert", "A.mtx", "B.mtx"}, "the input and the output are both Matrix Market files");
  expect_refused({"convert", "spd:5", "B.h5"}, "malformed input 'spd:5': write spd:N:CONDITION[:SEED]");
  expect_refused({"generate", "spd", "3", "A.h5", "--seed", "-1"}, "-1 is not a whole number from 0 to 2^64 - 1");
  expect_refused({"generate", "spd", "3", "A.h5", "--seed", ""}, "the value of --seed is empty");
  expect_refused({"generate", "spd", "3", "A.h5", "--memory="}, "the value of --memory is empty");
  expect_refused({"generate", "laplacian", "3", "A.h5", "--length", "inf"}, "the length must be finite and above 0");
  expect_refused({"info", ""}, "the value of FILE is empty");
  expect_refused({"convert", "A.mtx", "B.h5", "--memory", "100"}, "a tile of 1 x 1 elements needs 4.0 KiB");
}

TEST_F(MatrixCli, AnInputIsNeverWrittenOver) {
  expect_success({"generate", "hilbert", "10", "A.h5"});
  std::filesystem::create_symlink(file("A.h5"), file("link.h5"));
  expect_refused({"convert", "A.h5", "A.h5"}, "the output A.h5 is the same file as the input A.h5");
  expect_refused({"convert", "A.h5", "link.h5"}, "the output link.h5 is the same file as the input A.h5");
  EXPECT_EQ(open_matrix_file(file("A.h5")).rows, 10U);
}

TEST_F(MatrixCli, ABadInputLeavesNothingBehind) {
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\nNaN\n3\n4\n");
  for (std::string const output : {"B.h5", "B.npy"})
    expect_refused({"convert", "A.mtx", output}, "A.mtx, line 4: the matrix holds NaN");
}

TEST_F(MatrixCli, ASignalLeavesNothingBehind) {
  auto const result = testing::run_child(GRANARY_BIN_DIR "/granary-matrix", {"generate", "laplacian", "20000", "A.h5"},
                                         {.directory = m_directory.path(), .signal = SIGINT, .signal_when = "partial"});
  EXPECT_EQ(result.status, 128 + SIGINT) << result.err;
  EXPECT_THAT(m_directory.files(), IsEmpty());
}

TEST_F(MatrixCli, AFullDiskLeavesNothingBehind) {
  for (std::string const output : {"A.h5", "A.npy", "A.mtx"}) {
    auto const result =
        testing::run_child(GRANARY_BIN_DIR "/granary-matrix", {"generate", "general", "400", output, "--tile", "64"},
                           {.directory = m_directory.path(), .file_size_limit = 200000});
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("cannot write"));
    EXPECT_THAT(m_directory.files(), IsEmpty()) << output;
  }
}

TEST_F(MatrixCli, ConversionStaysWithinItsMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  expect_success({"generate", "general", "3000", "A.h5", "--tile", "256"});
  for (Arguments const& arguments : std::vector<Arguments>{{"convert", "A.h5", "B.npy", "--memory", "8MiB"},
                                                           {"convert", "B.npy", "C.h5", "--memory", "8MiB"}}) {
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_LT(result.peak_kibibytes, 60 * 1024) << "of a matrix of 69 MiB";
  }
  std::string line;
  for (int column = 0; column < 300; ++column) line += std::to_string(column * 0.37) + (column < 299 ? "," : "\n");
  {
    std::ofstream text(file("A.csv"));
    for (int row = 0; row < 30000; ++row) text << line;
  }
  for (auto const* output : {"D.npy", "D.h5"}) {
    auto const result = run({"convert", "A.csv", output, "--memory", "8MiB"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_LT(result.peak_kibibytes, 60 * 1024) << "of a matrix of 69 MiB";
  }
}

}  // namespace
}  // namespace granary
