// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/engine/model_file.hpp>

#include <granary/core/base/error.hpp>
#include <granary/core/base/partial_file.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

namespace granary {
namespace {

using nlohmann::json;

constexpr int format_version = 1;
constexpr std::array<std::string_view, worker_kinds> kind_names = {"cpu", "device"};

// A file that a later granary wrote, which knows more than this one would leave in it.
class NewerFormat final : public DataError {
 public:
  using DataError::DataError;
};

[[noreturn]] void fail(char const* what, std::string const& file, int error_number) {
  throw Error(std::string(what) + " " + file + ": " + std::strerror(error_number));
}

double positive(json const& entry, char const* field) {
  double const value = entry.at(field).get<double>();
  if (!(value > 0) || !std::isfinite(value)) {
    throw DataError("field '" + std::string(field) + "' is " + entry.at(field).dump() + " and must be above zero");
  }
  return value;
}

KernelModel kernel_from(json const& entry) {
  KernelModel model;
  model.codelet = entry.at("codelet").get<std::string>();
  model.variant = entry.at("variant").get<std::string>();
  auto const kind = entry.at("kind").get<std::string>();
  auto const found = std::ranges::find(kind_names, kind);
  if (found == kind_names.end()) throw DataError("field 'kind' is '" + kind + "' and must be 'cpu' or 'device'");
  model.kind = static_cast<WorkerKind>(found - kind_names.begin());
  model.samples = entry.at("samples").get<std::uint64_t>();
  bool const with_flops = entry.contains("flops");
  if (with_flops) model.flops = positive(entry, "flops");
  model.mean = positive(entry, with_flops ? "seconds_per_flop" : "seconds");
  return model;
}

json to_json(KernelModel const& model) {
  json entry = {{"codelet", model.codelet},
                {"variant", model.variant},
                {"kind", name_of(model.kind)},
                {"samples", model.samples}};
  if (model.flops > 0) entry["flops"] = model.flops;
  entry[model.flops > 0 ? "seconds_per_flop" : "seconds"] = model.mean;
  return entry;
}

LinkModel link_from(json const& entry) {
  auto const latency = entry.at("latency_seconds").get<double>();
  if (!(latency >= 0 && latency < 1e6)) {
    throw DataError("field 'latency_seconds' is " + entry.at("latency_seconds").dump() + " and must not be negative");
  }
  return {entry.at("from").get<std::string>(), entry.at("to").get<std::string>(), positive(entry, "bytes_per_second"),
          from_seconds(latency)};
}

MachineModels parse(std::string const& text) {
  auto const root = json::parse(text);
  auto const version = root.at("format").get<int>();
  if (version > format_version) {
    throw NewerFormat("it has format " + std::to_string(version) + ", and this granary knows " +
                      std::to_string(format_version));
  }
  if (version != format_version) throw DataError("it has the unknown format " + std::to_string(version));
  MachineModels models;
  auto const& machine = root.at("machine");
  models.host = machine.at("host").get<std::string>();
  models.cpu = machine.at("cpu").get<std::string>();
  models.cores = machine.at("cores").get<unsigned>();
  for (auto const& entry : root.at("kernels")) models.kernels.push_back(kernel_from(entry));
  for (auto const& entry : root.at("links")) models.links.push_back(link_from(entry));
  return models;
}

std::string format(MachineModels const& models) {
  json root = {{"format", format_version},
               {"machine", {{"host", models.host}, {"cpu", models.cpu}, {"cores", models.cores}}},
               {"kernels", json::array()},
               {"links", json::array()}};
  for (auto const& model : models.kernels) root["kernels"].push_back(to_json(model));
  for (auto const& link : models.links) {
    root["links"].push_back({{"from", link.from},
                             {"to", link.to},
                             {"bytes_per_second", link.bytes_per_second},
                             {"latency_seconds", seconds(link.latency)}});
  }
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string read_text(std::filesystem::path const& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!stream.is_open() || stream.bad()) fail("cannot read", file.string(), errno);
  return text;
}

// Held while a process reads, changes and writes the file. Where a file system has no locks, or another process holds
// this one for longer than an update takes, the update goes ahead: it may lose the other's part, and damages nothing.
class UpdateLock {
 public:
  explicit UpdateLock(std::filesystem::path const& file)
      : m_descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (m_descriptor < 0) fail("cannot write", file.string(), errno);
    for (int tries = 0; tries < 200 && ::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0; ++tries) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  ~UpdateLock() { ::close(m_descriptor); }
  UpdateLock(UpdateLock const&) = delete;
  UpdateLock& operator=(UpdateLock const&) = delete;

 private:
  int m_descriptor;
};

}  // namespace

LinkModel const* MachineModels::link(std::string_view from, std::string_view to) const {
  auto const found = std::ranges::find_if(links, [&](LinkModel const& l) { return l.from == from && l.to == to; });
  return found != links.end() ? &*found : nullptr;
}

std::string_view name_of(WorkerKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<MachineModels> read_models(std::filesystem::path const& file) {
  std::error_code error;
  auto const status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) return std::nullopt;
  if (error) fail("cannot read", file.string(), error.value());
  auto const what = "file of performance models " + file.string() + ": ";
  try {
    return parse(read_text(file));
  } catch (json::exception const& e) {
    throw DataError(what + e.what());
  } catch (NewerFormat const& e) {
    throw NewerFormat(what + e.what());
  } catch (DataError const& e) {
    throw DataError(what + e.what());
  }
}

void update_models(std::filesystem::path const& file, std::function<void(MachineModels&)> const& change) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) fail("cannot make the folder", file.parent_path().string(), error.value());
  UpdateLock const lock(file.string() + ".lock");
  MachineModels models;
  try {
    models = read_models(file).value_or(MachineModels{});
  } catch (NewerFormat const&) {
    throw;
  } catch (DataError const&) {
    models = {};
  }
  change(models);
  detail::PartialFile whole(file.string());
  whole.append(format(models));
  whole.commit();
}

}  // namespace granary
