// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads files of performance models, estimates with them, and writes them again.
#include <granary/detail/core/engine/model_file.hpp>
#include <granary/detail/core/engine/performance_models.hpp>

#include <filesystem>

#include "tests/fuzz/json_format.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {

using namespace detail;

namespace {

void estimate(MachineModels const& known) {
  PerformanceModels models(known.kernels);
  std::uint32_t number = 0;
  for (auto const& kernel : known.kernels) {
    CodeletId const id(number++);
    models.codelet_added(id, {.name = kernel.codelet, .kernels = {}, .variant = kernel.variant});
    for (double const flops : {0.0, 1.0, 1e6, 1e12, kernel.flops}) {
      if (models.kernel_time(id, flops, kernel.kind) <= Duration{0}) fail("a kernel is believed to take no time");
    }
    models.observe_kernel(id, kernel.flops, kernel.kind, Duration(1000));
  }
  auto stored = known.kernels;
  models.merge_into(stored);
}

// The folder of a file that is written, which must not get other files.
class Folder {
 public:
  Folder() {
    auto name = std::string(std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp") + "/granary-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) fail("there is no folder to write to");
    m_path = name;
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() { std::filesystem::remove_all(m_path); }
  [[nodiscard]] std::filesystem::path file() const { return m_path / "models.json"; }
  void check() const {
    for (auto const& entry : std::filesystem::directory_iterator(m_path)) {
      if (!entry.path().filename().string().starts_with("models.json")) continue;
      if (entry.path() != file() && entry.path() != file().string() + ".lock") fail("left: " + entry.path().string());
    }
  }

 private:
  std::filesystem::path m_path;
};

}  // namespace

std::vector<std::string> seeds() {
  return {R"({"format":1,"machine":{"host":"node","cpu":"a cpu","cores":12},
 "kernels":[{"codelet":"gemm","variant":"d","kind":"cpu","samples":41,"flops":1.125e9,"seconds_per_flop":3.3e-11},
 {"codelet":"gemm","variant":"d","kind":"cpu","samples":3,"flops":4e6,"seconds_per_flop":5e-11},
 {"codelet":"copy","variant":"","kind":"device","samples":0,"seconds":2.5e-6}],
 "links":[{"from":"memory","to":"disk /","bytes_per_second":1.5e9,"latency_seconds":9e-5}]})",
          R"({"format":1,"machine":{"host":"","cpu":"","cores":0},"kernels":[],"links":[]})"};
}

std::vector<std::string> words() {
  return json_words(
      {"\"format\":", "\"flops\":", "\"seconds\":", "\"device\"", "\"samples\":", "\"latency_seconds\":", "\xff"});
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  using namespace granary::detail;
  static fuzz::MemoryFile const file;
  static fuzz::Folder const folder;
  file.write(fuzz::text_of(data, size));
  std::optional<MachineModels> models;
  if (!fuzz::refuses_or(size, [&] { models = read_models(file.path()); })) return 0;
  fuzz::estimate(*models);
  update_models(folder.file(), [&](MachineModels& stored) { stored = *models; });
  auto const again = read_models(folder.file());
  if (!again || again->kernels.size() != models->kernels.size()) fuzz::fail("models change when they are written");
  if (size % 64 == 0) folder.check();
  return 0;
}
