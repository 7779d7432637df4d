// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/model_file.hpp>

#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

namespace granary::test {

using namespace detail;

namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class ModelFile : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(m_directory); }

  void write(std::string const& text) const {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  }
  void add(std::string const& codelet, double mean = 1e-9) const {
    update_models(file, [&](MachineModels& models) {
      models.kernels.push_back({codelet, "d", WorkerKind::Device, 4096, mean, 7});
    });
  }

 private:
  fs::path m_directory = [] {
    auto name = (fs::temp_directory_path() / "granary-models-XXXXXX").string();
    return fs::path(::mkdtemp(name.data()));
  }();

 protected:
  fs::path file = m_directory / "machine" / "models.json";
};

TEST_F(ModelFile, WhatWasWrittenIsRead) {
  EXPECT_FALSE(read_models(file).has_value());
  update_models(file, [](MachineModels& models) {
    models = {"node", "a cpu", 12, {}, {}};
    models.kernels = {{"gemm", "d", WorkerKind::Cpu, 1.125e9, 1.0 / 3e10, 41},
                      {"copy", "", WorkerKind::Device, 0, 2.5e-6, 0}};
    models.links = {{"memory", "disk /", 1.5e9, Duration(90'000)}};
  });
  auto const models = read_models(file);
  ASSERT_TRUE(models.has_value());
  EXPECT_EQ(models->host, "node");
  EXPECT_EQ(models->cores, 12U);
  ASSERT_EQ(models->kernels.size(), 2U);
  EXPECT_EQ(models->kernels[0].flops, 1.125e9);
  EXPECT_EQ(models->kernels[0].mean, 1.0 / 3e10);
  EXPECT_EQ(models->kernels[0].samples, 41U);
  EXPECT_EQ(models->kernels[1].kind, WorkerKind::Device);
  EXPECT_EQ(models->kernels[1].flops, 0);
  ASSERT_NE(models->link("memory", "disk /"), nullptr);
  EXPECT_EQ(models->link("memory", "disk /")->latency, Duration(90'000));
  EXPECT_EQ(models->link("disk /", "memory"), nullptr);
}

TEST_F(ModelFile, ADamagedFileIsNamedAndReplaced) {
  for (auto const* const text : {"", "{", "[]", "{\"format\": 1}", "{\"format\": 0}", "\x80\xff"}) {
    write(text);
    EXPECT_THAT([&] { (void)read_models(file); }, ThrowsMessage<DataError>(HasSubstr(file.string()))) << text;
  }
  add("gemm");
  EXPECT_EQ(read_models(file)->kernels.size(), 1U);
}

TEST_F(ModelFile, AFifoIsNotOpened) {
  fs::create_directories(file.parent_path());
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  ::alarm(60);  // nobody writes
  EXPECT_THAT([&] { static_cast<void>(read_models(file)); },
              ThrowsMessage<DataError>(HasSubstr(file.string() + ": it is not a regular file")));
  EXPECT_THROW(add("gemm"), InvalidArgument);
  ::alarm(0);
}

TEST_F(ModelFile, NumbersThatCannotBeAreRefusedByName) {
  add("gemm");
  auto const good = text();
  auto const with = [&](std::string const& from, std::string const& to) {
    auto changed = good;
    changed.replace(changed.find(from), from.size(), to);
    write(changed);
  };
  for (auto const* const value : {"0", "-1e-9", "null", "1e999"}) {
    with("1e-09", value);
    EXPECT_THAT([&] { (void)read_models(file); }, ThrowsMessage<DataError>(HasSubstr(file.string()))) << value;
  }
  with("1e-09", "-0.5");
  EXPECT_THAT([&] { (void)read_models(file); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("seconds_per_flop"), HasSubstr("-0.5"))));
  with("\"device\"", "\"abacus\"");
  EXPECT_THAT([&] { (void)read_models(file); }, ThrowsMessage<DataError>(HasSubstr("abacus")));
}

TEST_F(ModelFile, WhatIsNestedTooDeepToBeWalkedIsRefused) {
  write(std::string(300000, '['));
  EXPECT_THAT([&] { (void)read_models(file); }, ThrowsMessage<DataError>(HasSubstr("nest deeper than 64 levels")));
  write(R"({"format": )" + std::string(300000, '[') + std::string(300000, ']') + "}");
  EXPECT_THAT([&] { (void)read_models(file); }, ThrowsMessage<DataError>(HasSubstr("nest deeper than 64 levels")));
}

TEST_F(ModelFile, NumbersThatNoTypeHoldsAreRefused) {
  auto const with = [&](std::string const& format, std::string const& cores, std::string const& link) {
    write(R"({"format":)" + format + R"(,"machine":{"host":"h","cpu":"c","cores":)" + cores +
          R"(},"kernels":[],"links":[{"from":"a","to":"b",)" + link + "}]}");
  };
  auto const expect = [&](std::string const& part) {
    EXPECT_THAT([&] { (void)read_models(file); }, ThrowsMessage<DataError>(HasSubstr(part)));
  };
  std::string const link = R"("bytes_per_second":1e9,"latency_seconds":1e-5)";
  with("1", "4", link);
  EXPECT_EQ(read_models(file)->links.size(), 1U);
  with("1e300", "4", link);
  expect("field 'format' is 1e+300 and must be a whole number up to 2147483647");
  with("1", "-1", link);
  expect("field 'cores' is -1 and must be a whole number up to 4294967295");
  with("1", "4294967296", link);
  expect("field 'cores' is 4294967296");
  with("1", "4", R"("bytes_per_second":1e-30,"latency_seconds":1e-5)");
  expect("field 'bytes_per_second' is 1e-30 and must be a number from 1.0 to 1e+18");
  with("1", "4", R"("bytes_per_second":1e9,"latency_seconds":1e10)");
  expect("field 'latency_seconds' is 10000000000.0 and must be a number from 0.0 to 1000.0");
}

TEST_F(ModelFile, ANewerFormatIsLeftAlone) {
  std::string const newer = R"({"format": 2, "more": "than we know"})";
  write(newer);
  EXPECT_THAT([&] { add("gemm"); }, ThrowsMessage<DataError>(AllOf(HasSubstr(file.string()), HasSubstr("format 2"))));
  EXPECT_EQ(text(), newer);
}

TEST_F(ModelFile, WhatCannotBeWrittenIsNamed) {
  auto const folder = file.parent_path();
  std::ofstream(folder) << "a file where a folder should be";
  EXPECT_THAT([&] { add("gemm"); }, ThrowsMessage<Error>(HasSubstr(folder.string())));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(ModelFile, AnUpdateThatThrowsChangesNothing) {
  add("gemm");
  auto const before = text();
  EXPECT_THROW(update_models(file, [](MachineModels&) { throw Error("no"); }), Error);
  EXPECT_EQ(text(), before);
}

TEST_F(ModelFile, ProcessesThatWriteAtOnceEachAddTheirPart) {
  constexpr int processes = 4;
  constexpr int updates = 10;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    pid_t const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        for (int i = 0; i < updates; ++i) add(std::to_string(p) + "." + std::to_string(i));
        ::_exit(0);
      } catch (...) {
        ::_exit(1);
      }
    }
    children.push_back(child);
  }
  for (auto const child : children) {
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      EXPECT_NO_THROW((void)read_models(file));
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(read_models(file)->kernels.size(), static_cast<std::size_t>(processes * updates));
  std::size_t files = 0;
  for ([[maybe_unused]] auto const& entry : fs::directory_iterator(file.parent_path())) ++files;
  EXPECT_EQ(files, 2U);  // and its lock
}

}  // namespace
}  // namespace granary::test
