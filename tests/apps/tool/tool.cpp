// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Kokkos Tools library: writes the events that it receives to the file in TOOL_LOG.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>

namespace {

std::ofstream& log_file() {
  static std::ofstream file(std::getenv("TOOL_LOG"));
  return file;
}

std::mutex mutex;
std::uint32_t sections = 0;

void write(std::string const& line) {
  std::lock_guard const lock(mutex);
  log_file() << line << '\n' << std::flush;
}

}  // namespace

extern "C" {

void kokkosp_push_profile_region(char const* name) { write(std::string("push ") + name); }
void kokkosp_pop_profile_region() { write("pop"); }
void kokkosp_create_profile_section(char const* name, std::uint32_t* id) {
  *id = sections++;
  write("create " + std::to_string(*id) + " " + name);
}
void kokkosp_start_profile_section(std::uint32_t id) { write("start " + std::to_string(id)); }
void kokkosp_stop_profile_section(std::uint32_t id) { write("stop " + std::to_string(id)); }
void kokkosp_destroy_profile_section(std::uint32_t id) { write("destroy " + std::to_string(id)); }
void kokkosp_declare_metadata(char const* key, char const* value) { write(std::string(key) + "=" + value); }
}
