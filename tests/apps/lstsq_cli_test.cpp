// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>
#include <vector>

#include "apps/cli_test.hpp"

namespace granary {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class LstsqCli : public testing::CliTest {
 protected:
  LstsqCli() : CliTest("granary-lstsq") {}
  void SetUp() override {
    if (!have_h5py()) GTEST_SKIP() << "no h5py";
  }
  // 4001 rows: x1, x2, "x, 3", a positive w, y1, y2; as data.csv, data.h5 with names, and data.npy.
  void make_data() const {
    python(R"(
g = np.random.default_rng(1)
D = g.normal(size=(4001, 6))
D[:, 3] = g.uniform(0.1, 3, 4001)
D[:, 4] = 3 + D[:, :3] @ [2, -1, 0.5] + 0.3 * D[:, 4]
D[:, 5] = D[:, 0] - 1e3 * D[:, 2] + D[:, 5]
names = ['x1', 'x2', 'x, 3', 'w', 'y1', 'y2']
np.save('data.npy', D)
with h5py.File('data.h5', 'w') as f:
    f['D'] = D
    f['D'].attrs['columns'] = names
with open('data.csv', 'w') as f:
    f.write('x1,x2,"x, 3",w,y1,y2\n')
    for row in D:
        f.write(','.join(repr(float(v)) for v in row) + '\n')
)");
  }
  // Compares the summary fit.json with the textbook's formulas in numpy.
  void expect_fit(std::string const& predictors, std::string const& response, std::string const& weights,
                  bool intercept, std::string const& what) const {
    EXPECT_EQ(python("P, r, w, intercept = " + predictors + ", " + response + ", " + weights + ", " +
                     (intercept ? "True" : "False") + R"(
import json
D = np.load('data.npy')
s = np.sqrt(D[:, w]) if w is not None else np.ones(len(D))
X = np.column_stack(([np.ones(len(D))] if intercept else []) + [D[:, p] for p in P]) * s[:, None]
y = D[:, r] * s
b = np.linalg.lstsq(X, y, rcond=None)[0]
rss = float(((y - X @ b) ** 2).sum())
df = len(D) - X.shape[1]
error = np.sqrt(rss / df * np.diag(np.linalg.inv(X.T @ X)))
total = float(((y - s * (s @ y) / (s @ s)) ** 2).sum()) if intercept else float((y ** 2).sum())
found = json.load(open('fit.json'))
one = found['fits'][0]
assert found['degrees_of_freedom'] == df, found
assert np.allclose(one['coefficients'], b, rtol=1e-10), (one, b)
assert np.allclose(one['standard_errors'], error, rtol=1e-9), (one, error)
assert np.isclose(one['residual_standard_error'], np.sqrt(rss / df), rtol=1e-10)
assert np.isclose(one['r_squared'], 1 - rss / total, rtol=1e-9)
print('fits')
)"),
              "fits\n")
        << what;
  }
};

TEST_F(LstsqCli, FitsFilesOfAllFormatsByNamesAndNumbers) {
  make_data();
  for (std::string const data : {"data.csv", "data.h5:/D", "data.npy"}) {
    bool const named = data != "data.npy";
    for (bool const weighted : {false, true}) {
      for (bool const intercept : {false, true}) {
        std::vector<std::string> arguments{
            data,     "--response", named ? "y1" : "5", "--predictors", named ? "\"x, 3\",x1" : "3,1",
            "--json", "fit.json"};
        if (weighted) arguments.insert(arguments.end(), {"--weights", named ? "w" : "4"});
        if (intercept) arguments.emplace_back("--intercept");
        auto const result = run(arguments);
        ASSERT_EQ(result.status, 0) << result.err;
        expect_fit("[2, 0]", "4", weighted ? "3" : "None", intercept, data);
        EXPECT_THAT(result.out, HasSubstr(intercept ? "(intercept)" : "about zero"));
      }
    }
  }
}

// In blocks that divide nothing, with little memory, and with tiles narrower than the data.
TEST_F(LstsqCli, ReadsTheDataOnceInBlocksOfAnySize) {
  make_data();
  for (std::string const data : {"data.csv", "data.h5:/D"}) {
    for (std::string const tile : {"3", "5", "97", "4000", "8192"}) {
      auto const result = run({data, "--response", "y1", "--predictors", "x1,x2", "--intercept", "--tile", tile,
                               "--json", "fit.json", "--memory", "2MiB"});
      ASSERT_EQ(result.status, 0) << result.err;
      expect_fit("[0, 1]", "4", "None", true, data + " in blocks of " + tile);
      auto const read = read_json("fit.json")["bytes_read"].get<std::uint64_t>();
      // Tile columns that the model does not use are not read.
      EXPECT_LE(read, data == "data.csv" ? 0 : 4001 * 6 * sizeof(double)) << tile;
      EXPECT_GE(read, data == "data.csv" ? 0 : 4001 * 3 * sizeof(double)) << tile;
    }
  }
}

TEST_F(LstsqCli, WritesTheCoefficientsOfSeveralResponses) {
  make_data();
  auto const result =
      run({"data.csv", "--response", "y1,y2", "--predictors", "1-3", "--coefficients", "fit.csv", "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(python(R"(
import csv
rows = list(csv.DictReader(open('fit.csv')))
assert [(r['response'], r['term']) for r in rows] == [(y, x) for y in ['y1', 'y2'] for x in ['x1', 'x2', 'x, 3']]
D = np.load('data.npy')
b = np.linalg.lstsq(D[:, :3], D[:, 4:], rcond=None)[0]
assert np.allclose([float(r['estimate']) for r in rows], b.T.ravel(), rtol=1e-9)
assert all(abs(float(r['estimate']) / float(r['std_error']) / float(r['t_value']) - 1) < 1e-12 for r in rows)
print('written')
)"),
            "written\n");
}

TEST_F(LstsqCli, TakesResponsesFromASecondFileInBothPrecisions) {
  for (std::string const type : {"f4", "f8"}) {
    python("g = np.random.default_rng(2)\nX = g.normal(size=(1003, 20)).astype('" + type + "')\nnp.save('X.npy', X)\n" +
           "np.save('y.npy', (X @ np.arange(20) + 1).astype('" + type + "'))");
    auto const result = run({"X.npy", "y.npy", "--intercept", "--json", "fit.json"});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(python("import json\nb = json.load(open('fit.json'))['fits'][0]['coefficients']\n"
                     "print(bool(np.allclose(b, [1, *range(20)], atol=1e3 * np.finfo('" +
                     type + "').eps)))"),
              "True\n");
  }
  auto const generated = run({"general:5000x31", "general:5000x2:7", "--float", "--json", "-"});
  EXPECT_EQ(generated.status, 0) << generated.err;
}

TEST_F(LstsqCli, RidgeGivesTheSolutionOfTheNormalEquations) {
  make_data();
  auto const result = run(
      {"data.h5", "--response", "y1", "--predictors", "1-3", "--intercept", "--ridge", "100", "--json", "fit.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(python(R"(
import json
D = np.load('data.npy')
X = np.column_stack((np.ones(len(D)), D[:, :3]))
y = D[:, 4]
b = np.linalg.solve(X.T @ X + np.diag([0, 100, 100, 100]), X.T @ y)
one = json.load(open('fit.json'))['fits'][0]
assert np.allclose(one['coefficients'], b, rtol=1e-10), (one, b)
assert np.isclose(one['residual_norm'], np.linalg.norm(y - X @ b), rtol=1e-9)
assert 'standard_errors' not in one
print('ridge')
)"),
            "ridge\n");
}

TEST_F(LstsqCli, RefusesWhatHasNoUniqueSolutionByName) {
  python(R"(
g = np.random.default_rng(3)
D = g.normal(size=(500, 5))
D[:, 3] = 4
D[:, 4] = 2 * D[:, 0] - D[:, 1]
with h5py.File('data.h5', 'w') as f:
    f['D'] = D
    f['D'].attrs['columns'] = ['rain', 'sun', 'y', 'level', 'both']
np.save('wide.npy', D[:3])
np.save('y.npy', D[:, 2])
np.save('complex.npy', D * 1j)
)");
  expect_refused({"data.h5", "--response", "y", "--predictors", "rain,sun,both"}, 2,
                 "the predictor 'both' is a linear combination of 'rain' and 'sun': leave it out, or add "
                 "--drop-dependent or --ridge");
  expect_refused({"data.h5", "--response", "y", "--predictors", "rain,level", "--intercept"}, 2,
                 "the predictor 'level' is a multiple of '(intercept)': leave it out");
  expect_refused({"wide.npy", "--response", "1"}, 2, "wide.npy has 3 rows for 4 coefficients");
  expect_refused({"wide.npy", "y.npy"}, 2, "wide.npy has 3 rows, and the responses in y.npy have 500");
  expect_refused({"data.h5"}, 2, "name the response: --response COLUMN");
  expect_refused({"data.h5", "y.npy", "--response", "y"}, 2, "leave out --response");
  expect_refused({"data.h5", "--response", "z"}, 2, "has no column 'z'; it has rain, sun, y, level, both");
  expect_refused({"data.h5", "--response", "y", "--predictors", "rain,y"}, 2, "chosen twice");
  expect_refused({"data.h5", "--response", "1-5"}, 2, "has no column that could be a predictor");
  expect_refused({"data.h5", "--response", "y", "--weights", "1-2"}, 2, "--weights takes one column, not several");
  expect_refused({"data.h5", "--response", "y", "--weights", "rain"}, 2, "the weight of row ");
  expect_refused({"complex.npy", "--response", "1"}, 2, "a linear model is of real numbers");
  expect_refused({"data.h5", "--response", "y", "--header"}, 2, "--header applies to CSV files");
  expect_refused({"data.h5", "--response", "y", "--coefficients", "data.h5"}, 2, "data.h5");
}

// Rounding in long sums, and columns that nearly cancel, do not hide that columns depend on each other.
TEST_F(LstsqCli, FindsDependenceAmongManyRowsAndLargeOffsets) {
  python(R"(
n = 30000
k = np.arange(n) % 20
np.save('constant.npy', np.c_[np.full(n, .1), np.arange(n) % 7.])
np.save('year.npy', np.c_[2000 + k, k / 3, (k * k) % 7.])
np.save('single.npy', np.c_[np.full(300000, .1), np.arange(300000) % 7.].astype('f4'))
np.save('distinct.npy', np.c_[2000 + k, (np.arange(n) * 7) % 13, (k * k) % 7.])
)");
  for (std::string const file : {"constant.npy", "single.npy"}) {
    expect_refused({file, "--response", "2", "--intercept"}, 2,
                   "the predictor 'column 1' is a multiple of '(intercept)'");
  }
  expect_refused({"year.npy", "--response", "3", "--intercept"}, 2,
                 "the predictor 'column 2' is a linear combination of");
  EXPECT_EQ(run({"year.npy", "--response", "3", "--intercept", "--drop-dependent", "--quiet"}).status, 0);
  EXPECT_EQ(run({"distinct.npy", "--response", "3", "--intercept", "--quiet"}).status, 0);
}

TEST_F(LstsqCli, UnitsMayBeFarApart) {
  python(R"(
g = np.random.default_rng(5)
X = g.normal(size=(400, 3))
y = X @ [1, 2, 3] + 0.1 * g.normal(size=400)
np.save('D.npy', np.c_[X * [1e160, 1e-160, 1], y])
np.save('E.npy', np.c_[X, y])
np.save('F.npy', np.c_[X, y * 1e200])
)");
  ASSERT_EQ(run({"D.npy", "--response", "4", "--json", "d.json"}).status, 0);
  ASSERT_EQ(run({"E.npy", "--response", "4", "--json", "e.json"}).status, 0);
  ASSERT_EQ(run({"E.npy", "--response", "4", "--ridge", "10", "--json", "r.json"}).status, 0);
  ASSERT_EQ(run({"F.npy", "--response", "4", "--ridge", "10", "--json", "f.json"}).status, 0);
  EXPECT_EQ(python(R"(
import json
d, e, r, f = (json.load(open(n + '.json'))['fits'][0] for n in 'derf')
scale = np.array([1e160, 1e-160, 1])
for key in ('coefficients', 'standard_errors'):
    assert np.allclose(np.array(d[key]) * scale, e[key], rtol=1e-9), (d, e)
assert np.isclose(f['residual_norm'] / 1e200, r['residual_norm'], rtol=1e-9)
assert np.isclose(f['r_squared'], r['r_squared'])
print('alike')
)"),
            "alike\n");
}

TEST_F(LstsqCli, ColumnsThatAreNotUsedMayHaveAnyNames) {
  python(R"(
open('D.csv', 'w').write('a,b,y,z,z\n1,2,3,1,1\n2,1,4,1,1\n3,5,5,1,2\n4,1,6.5,1,2\n')
)");
  EXPECT_EQ(run({"D.csv", "--response", "3", "--predictors", "a,5"}).status, 0);
  expect_refused({"D.csv", "--response", "z", "--predictors", "a"}, 2, "have the same name 'z'");
}

TEST_F(LstsqCli, RidgeTakesFewerRowsThanColumns) {
  EXPECT_EQ(run({"general:20x31", "--response", "1", "--ridge", "1"}).status, 0);
  for (std::string const bad : {"nan", "inf", "-1"})
    expect_refused({"general:20x3", "--response", "1", "--ridge=" + bad}, 2, "--ridge");
}

TEST_F(LstsqCli, OutputsMustNotCollide) {
  make_data();
  for (std::string const other : {"--json", "--trace", "--report", "--save-schedule"}) {
    std::string const name = other == "--report" ? "out.html" : "out.json";
    expect_refused({"data.npy", "--response", "5", "--coefficients", name, other, name}, 2, "which is another output");
  }
  expect_refused({"data.npy", "--response", "5", "--coefficients", "-", "--json", "-"}, 2, "which is another output");
}

TEST_F(LstsqCli, TheMemoryOfTrianglesCountsAgainstTheLimit) {
  expect_refused({"general:7000x6000", "--response", "2-6000", "--memory", "64MiB"}, 2,
                 "6000 columns of predictors and responses need");
}

// As in R, the coefficients of the others are those of the model without it.
TEST_F(LstsqCli, DropsPredictorsThatDependOnThoseBeforeThem) {
  python(R"(
g = np.random.default_rng(4)
D = g.normal(size=(700, 7))
D[:, 2] = 5
D[:, 4] = 2 * D[:, 0] - 3 * D[:, 3] + 1
D[:, 5] = D[:, 4] / 7
np.save('D.npy', D)
)");
  auto const result = run({"D.npy", "--response", "7", "--intercept", "--drop-dependent", "--json", "fit.json",
                           "--coefficients", "fit.csv"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("dropped"));
  EXPECT_EQ(python(R"(
import csv, json
D = np.load('D.npy')
X = np.column_stack((np.ones(700), D[:, [0, 1, 3]]))
b = np.linalg.lstsq(X, D[:, 6], rcond=None)[0]
error = np.sqrt(((D[:, 6] - X @ b) ** 2).sum() / 696 * np.diag(np.linalg.inv(X.T @ X)))
found = json.load(open('fit.json'))
one = found['fits'][0]
assert found['degrees_of_freedom'] == 696
for key, values in (('coefficients', b), ('standard_errors', error)):
    assert [one[key][i] for i in (3, 5, 6)] == [None] * 3, one
    assert np.allclose([one[key][i] for i in (0, 1, 2, 4)], values, rtol=1e-9), (one, values)
rows = list(csv.DictReader(open('fit.csv')))
assert [r['estimate'] == r['std_error'] == '' for r in rows] == [False, False, False, True, False, True, True]
print('dropped')
)"),
            "dropped\n");
}

TEST_F(LstsqCli, NamesTheLineAndColumnOfABadNumber) {
  python(R"(
for name, bad in (('nan.csv', 'nan'), ('text.csv', 'high'), ('empty.csv', '')):
    with open(name, 'w') as f:
        f.write('x,y\n')
        for i in range(2000):
            f.write(f'{i},{bad if i == 1500 else i * i}\n')
)");
  for (auto const& [name, part] : {std::pair("nan.csv", "NaN"), {"text.csv", "'high'"}, {"empty.csv", "missing"}}) {
    for (std::string const tile : {"64", "333"}) {
      expect_refused({name, "--response", "y", "--tile", tile}, 2, "line 1502, column 2 (y)");
      EXPECT_THAT(run({name, "--response", "y", "--tile", tile}).err, HasSubstr(part));
    }
  }
}

TEST_F(LstsqCli, LeastMemoryIsExact) {
  make_data();
  expect_least_memory_is_exact({"data.h5", "--response", "y1", "--tile", "100", "--workers", "1"});
  expect_least_memory_is_exact({"data.csv", "--response", "y1", "--tile", "100", "--workers", "1"});
}

}  // namespace
}  // namespace granary
