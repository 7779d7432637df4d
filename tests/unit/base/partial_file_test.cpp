// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/partial_file.hpp>

#include <granary/detail/core/base/error.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace granary {

using namespace detail;

namespace {

namespace fs = std::filesystem;
using detail::PartialFile;
using ::testing::HasSubstr;

class PartialFileTest : public ::testing::Test {
 protected:
  PartialFileTest() {
    auto pattern = (fs::temp_directory_path() / "granary-partial-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    m_directory = fs::canonical(pattern);
  }
  ~PartialFileTest() override { fs::remove_all(m_directory); }

  [[nodiscard]] std::string file(std::string const& name) const { return (m_directory / name).string(); }
  static void write(std::string const& path, std::string const& text) { std::ofstream(path) << text; }
  static std::string read(std::string const& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static mode_t mode_of(std::string const& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(m_directory), fs::directory_iterator()));
  }
  // The message that creating the output throws; empty: none.
  static std::string refusal(std::string const& path) {
    return test::message_of([&] { PartialFile const file(path); });
  }
  static void write_whole(std::string const& path, std::string const& text) {
    PartialFile output(path);
    output.append(text);
    output.commit();
  }

  fs::path m_directory;
};

TEST_F(PartialFileTest, GetsItsNameWhenItIsComplete) {
  write(file("a"), "old");
  {
    PartialFile output(file("a"));
    output.append("ne");
    output.append("w");
    EXPECT_EQ(output.partial_path(), file("a.partial"));
    EXPECT_EQ(read(file("a")), "old");
    EXPECT_FALSE(output.replaced_a_dead_one());
    output.commit();
    EXPECT_EQ(read(file("a")), "new");
  }
  EXPECT_EQ(files(), 1U);
  { PartialFile(file("a")).append("never complete"); }
  EXPECT_EQ(read(file("a")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(PartialFileTest, TwoOfOnePathExcludeEachOther) {
  PartialFile output(file("a"));
  output.append("first");
  EXPECT_THAT(refusal(file("a")), HasSubstr("a.partial: another run is writing it"));
  fs::create_symlink("a", file("link"));
  EXPECT_THAT(refusal(file("link")), HasSubstr("another run is writing it"));
  output.commit();
  EXPECT_EQ(read(file("a")), "first");
  EXPECT_EQ(refusal(file("a")), "");
}

TEST_F(PartialFileTest, WhatADeadRunLeftIsRemoved) {
  write(file("a.partial"), "a long text of a run that is dead");
  {
    PartialFile output(file("a"));
    EXPECT_TRUE(output.replaced_a_dead_one());
    output.append("new");
    output.commit();
  }
  EXPECT_EQ(read(file("a")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(PartialFileTest, WhatIsPlantedUnderItsNameIsNotFollowed) {
  write(file("victim"), "precious");
  fs::create_symlink("victim", file("a.partial"));
  EXPECT_THAT(refusal(file("a")), HasSubstr("a.partial: it is a symbolic link"));
  fs::remove(file("a.partial"));
  fs::create_hard_link(file("victim"), file("a.partial"));
  write_whole(file("a"), "new");
  EXPECT_EQ(read(file("victim")), "precious");
  ASSERT_EQ(::mkfifo(file("b.partial").c_str(), 0600), 0);
  EXPECT_THAT(refusal(file("b")), HasSubstr("b.partial: it exists and is not a regular file"));
  fs::create_directory(file("c.partial"));
  EXPECT_NE(refusal(file("c")), "");
}

TEST_F(PartialFileTest, LinksAreFollowed) {
  fs::create_directory(file("there"));
  write(file("there/a"), "old");
  fs::create_symlink("there/a", file("link"));
  write_whole(file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(read(file("there/a")), "new");
  fs::create_symlink("there/none", file("dangling"));
  write_whole(file("dangling"), "made");
  EXPECT_TRUE(fs::is_symlink(file("dangling")));
  EXPECT_EQ(read(file("there/none")), "made");
  fs::create_symlink("nowhere/none", file("lost"));
  EXPECT_THAT(refusal(file("lost")), HasSubstr("nowhere: No such file or directory"));
  fs::create_symlink("loop", file("loop"));
  EXPECT_THAT(refusal(file("loop")), HasSubstr("Too many levels of symbolic links"));
  EXPECT_THROW((void)detail::follow_links(file("loop")), InvalidArgument);
}

TEST_F(PartialFileTest, SpecialFilesAreRefusedForMatricesAndTakenForTexts) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal("/dev/null"), "the output /dev/null is a device; a matrix is written to a regular file");
  EXPECT_THAT(refusal(file("fifo")), HasSubstr("is a FIFO; "));
  EXPECT_NO_THROW(check_text_output("/dev/null", {}));
  EXPECT_NO_THROW(check_text_output(file("fifo"), {}));
  EXPECT_THROW(check_text_output(m_directory, {}), InvalidArgument);
  EXPECT_THROW(check_text_output(file("nowhere/a"), {}), InvalidArgument);
  EXPECT_TRUE(detail::is_special_file("/dev/null"));
  EXPECT_FALSE(detail::is_special_file(m_directory));
  EXPECT_FALSE(detail::is_special_file(file("none")));
  EXPECT_EQ(files(), 1U);
}

TEST_F(PartialFileTest, PermissionsOfWhatIsReplacedAreKept) {
  write(file("a"), "old");
  fs::create_hard_link(file("a"), file("other name"));
  ::chmod(file("a").c_str(), 0640);
  {
    PartialFile output(file("a"));
    EXPECT_EQ(mode_of(file("a.partial")), 0600U) << "what is replaced may be a secret";
    output.append("new");
    output.commit();
  }
  EXPECT_EQ(mode_of(file("a")), 0640U);
  EXPECT_EQ(read(file("other name")), "old");
  auto const mask = ::umask(027);
  write_whole(file("b"), "new");
  ::umask(mask);
  EXPECT_EQ(mode_of(file("b")), 0640U);
}

TEST_F(PartialFileTest, WhatSomebodyElseRemovedOrReplacedIsNotCommitted) {
  write(file("a"), "old");
  PartialFile removed(file("a"));
  fs::remove(file("a.partial"));
  EXPECT_THROW(removed.commit(), Error);
  {
    PartialFile replaced(file("b"));
    fs::remove(file("b.partial"));
    write(file("b.partial"), "another's");
    EXPECT_THROW(replaced.commit(), Error);
  }
  EXPECT_EQ(read(file("a")), "old");
  EXPECT_EQ(read(file("b.partial")), "another's");
}

TEST_F(PartialFileTest, ANameThatCannotBeGivenIsSaidWithoutAnOffset) {
  {
    PartialFile output(file("a"));
    output.append("complete");
    fs::create_directory(file("a"));
    try {
      output.commit();
      ADD_FAILURE() << "not refused";
    } catch (IoError const& error) {
      auto const path = fs::canonical(file("a")).string();
      EXPECT_EQ(error.what(), "cannot rename the complete output " + path +
                                  ".partial, which is kept until the next run with this output, to " + path +
                                  ": Is a directory");
    }
  }
  EXPECT_EQ(read(file("a.partial")), "complete") << "it may have taken days";
}

// As another user, without rights over others' files.
TEST_F(PartialFileTest, AFileThatCannotBeReplacedIsRefusedBeforeTheStart) {
  if (::geteuid() != 0) GTEST_SKIP() << "becomes another user";
  fs::create_directory(file("sticky"));
  ::chmod(file("sticky").c_str(), 01777);
  ::chmod(file("").c_str(), 0755);
  auto const path = file("sticky/a");
  write(path, "old");
  ::chmod(path.c_str(), 0666);
  auto const child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool refused = ::setgid(65534) == 0 && ::setuid(65534) == 0;
    try {
      check_output(path, {});
      refused = false;
    } catch (InvalidArgument const& error) {
      refused = refused && error.what() == "cannot write the output " + path +
                                               ": it is another user's file in a directory with the sticky bit, and "
                                               "cannot be replaced";
      check_output(file("sticky/b"), {});
    }
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_NO_THROW(check_output(path, {})) << "root may replace it";
}

TEST_F(PartialFileTest, ANameMayBeAsLongAsTheSystemAllows) {
  std::string const longest(255, 'a'), other = std::string(254, 'a') + 'b';
  {
    PartialFile output(file(longest)), another(file(other));
    EXPECT_EQ(refusal(file(longest)).find("cannot write the output"), 0U) << "another run is writing it";
    output.append("new");
    output.commit();
    EXPECT_NE(output.partial_path(), another.partial_path());
  }
  EXPECT_EQ(read(file(longest)), "new");
  EXPECT_FALSE(fs::exists(file(other)));
  EXPECT_NE(refusal(file(std::string(256, 'a'))), "");
}

TEST_F(PartialFileTest, ADescriptorOnAnotherFileIsFound) {
  PartialFile const a(file("a"));
  PartialFile const b(file("b"));
  EXPECT_NO_THROW(a.require_same(a.descriptor()));
  EXPECT_THROW(a.require_same(b.descriptor()), Error);
}

TEST_F(PartialFileTest, SpaceIsAskedFor) {
  auto const message = [](auto const& call) -> std::string {
    try {
      call();
    } catch (Error const& error) {
      return error.what();
    }
    return "";
  };
  PartialFile const output(file("a"));
  EXPECT_EQ(message([&] { output.require_space(1, 1); }), "");
  EXPECT_THAT(message([&] { output.require_space(Bytes{1} << 62U, 1); }),
              ::testing::MatchesRegex("cannot write the output .*/a: it needs .*, but its file system has .* free"));
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit const low{1U << 20U, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  auto const too_long = message([&] { output.require_space(1, 2_MiB); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(too_long, "cannot write the output " + file("a") +
                          ": it needs 2.0 MiB, but files are limited to 1.0 MiB here (ulimit -f)");
}

TEST_F(PartialFileTest, AFailedWriteIsReported) {
  int const full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  EXPECT_THROW(detail::write_all(full, "text", "/dev/full"), IoError);
  ::close(full);
}

// Processes that write the same output repeatedly, and may die: every file with the final name is complete.
TEST_F(PartialFileTest, ProcessesThatWriteTheSameOutput) {
  constexpr int rounds = 200;
  std::array<pid_t, 4> children{};
  for (std::size_t k = 0; k < children.size(); ++k) {
    children[k] = ::fork();
    ASSERT_GE(children[k], 0);
    if (children[k] > 0) continue;
    std::string const text(5000, static_cast<char>('a' + k));
    for (int round = 0; round < rounds; ++round) {
      std::optional<PartialFile> output;
      try {
        output.emplace(file("a"));
        output->append(text.substr(0, 1000));
        output->append(text.substr(1000));
        if (round + 1 == rounds && k % 2 == 0) ::_exit(0);  // dies, and leaves what it wrote
        output->commit();
      } catch (InvalidArgument const&) {  // NOLINT(bugprone-empty-catch): another one writes it
      } catch (std::exception const&) {
        ::_exit(1);
      }
    }
    ::_exit(0);
  }
  for (auto const child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  auto const text = read(file("a"));
  ASSERT_EQ(text.size(), 5000U);
  EXPECT_EQ(text, std::string(5000, text.front()));
  EXPECT_EQ(refusal(file("a")), "");
  EXPECT_EQ(files(), 1U);
}

TEST_F(PartialFileTest, AProcessThatEndsAtOnceRemovesItsFiles) {
  auto const child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    PartialFile const a(file("a"));
    PartialFile b(file("b"));
    b.append("text");
    b.commit();
    PartialFile const c(file("c"));
    detail::abandon_partial_files();
    ::_exit(fs::exists(a.partial_path()) || fs::exists(c.partial_path()) ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(read(file("b")), "text");
}

TEST_F(PartialFileTest, WhatIsReadIsNotReplacedMeanwhile) {
  write(file("A.h5"), "old");
  fs::create_hard_link(file("A.h5"), file("another"));
  {
    detail::OpenInput const first(file("A.h5")), second(file("A.h5"));
    for (std::string const name : {"A.h5", "another"}) {
      EXPECT_EQ(refusal(file(name)),
                "the output " + file(name) + " is open as an input of this process: close that matrix first");
    }
    EXPECT_EQ(files(), 2U);
    EXPECT_NO_THROW(PartialFile(file("B.h5")));
  }
  EXPECT_NO_THROW(PartialFile(file("A.h5")));
  EXPECT_NO_THROW(detail::OpenInput(file("none")));
}

TEST_F(PartialFileTest, WhatWillBeReplacedIsNotRead) {
  write(file("A.h5"), "old");
  PartialFile output(file("A.h5"));
  EXPECT_EQ(test::message_of([&] { detail::OpenInput const input(file("A.h5")); }),
            "the input " + file("A.h5") + " will be replaced by an output of this process: commit that first");
  output.append("new");
  output.commit();
  EXPECT_NO_THROW(detail::OpenInput(file("A.h5")));
}

}  // namespace
}  // namespace granary
