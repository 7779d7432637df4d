// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contract/facade/program.hpp"

#include <algorithm>
#include <sstream>
#include <string>

namespace granary::facade_test {

using namespace detail;

namespace {

char const* const use_names[] = {"read", "write",   "read_write", "commute", "scratch",
                                 "Sum",  "Product", "Minimum",    "Maximum", "Xor"};
char const* const kind_names[] = {"vector",    "left",        "right",     "line",   "block",  "constant",
                                  "on device", "device part", "temporary", "scalar", "varying"};
char const* const place_names[] = {"host, LayoutLeft", "host, LayoutRight", "device", "DualView", "temporary", "scalar",
                                   "varying"};
char const* const call_names[] = {"submit_outside on a temporary", "submit_outside on a DualView",
                                  "part beyond the end",           "part of a temporary",
                                  "prefetch to no node",           "task larger than memory"};

template <class Enum>
std::size_t at(Enum value) {
  return static_cast<std::size_t>(value);
}

std::string to_text(Region const& region) {
  std::ostringstream text;
  text << "cells " << region.first << " + i*" << region.strides[0] << " + j*" << region.strides[1] << ", "
       << region.extents[0] << " x " << region.extents[1];
  return text.str();
}

std::string to_text(Array const& array) {
  std::string text =
      std::string(place_names[at(array.place)]) + " " + std::to_string(array.rows) + " x " + std::to_string(array.cols);
  if (array.place == Place::Varying) text += ", expected " + std::to_string(array.expected);
  if (array.place == Place::Device || array.place == Place::Dual) text += " on device " + std::to_string(array.device);
  return text;
}

std::string handle(Name number) { return "h" + std::to_string(number); }
std::string range(std::array<std::size_t, 2> const& from, std::array<std::size_t, 2> const& to) {
  return "[" + std::to_string(from[0]) + ", " + std::to_string(to[0]) + ") x [" + std::to_string(from[1]) + ", " +
         std::to_string(to[1]) + ")";
}
std::string pair(std::array<std::size_t, 2> const& both) {
  return std::to_string(both[0]) + ", " + std::to_string(both[1]);
}

std::string to_text(Work const& work) {
  return "task " + std::to_string(work.task) + (work.pause > 0 ? ", " + std::to_string(work.pause) + " us" : "") +
         (work.fails ? ", fails" : "");
}

std::string to_text(Form const& form, std::array<Name, most_slots> const& handles, std::string const& scratch) {
  std::string text;
  for (std::size_t s = 0; s < form.count; ++s) {
    auto const& slot = form.slots[s];
    std::string const name = use_names[at(slot.use)];
    text += s > 0 ? ", " : "";
    if (slot.use == Use::Scratch) {
      text += "scratch(" + scratch + ")";
    } else if (reduces(slot.use)) {
      text += "reduce(" + handle(handles[s]) + ", " + name + (slot.in_order ? ", in_order)" : ")");
    } else {
      text += name + "(" + handle(handles[s]) + ")";
    }
  }
  return text;
}

struct Describe {
  std::string operator()(MakeHandle const& s) const {
    return handle(s.handle) + " = data(array " + std::to_string(s.array) + ", " + kind_names[at(s.kind)] + ", " +
           to_text(s.region) + ")";
  }
  std::string operator()(MakePart const& s) const {
    return handle(s.handle) + " = part(" + handle(s.of) + ", " + range(s.from, s.to) + ")";
  }
  std::string operator()(Partition const& s) const {
    return handle(s.handle) + "... = partition(" + handle(s.of) + ", " + pair(s.tiles) + ")";
  }
  std::string operator()(MakeOwn const& s) const {
    return handle(s.handle) + " = array " + std::to_string(s.array) + ", " + to_text(s.shape);
  }
  std::string operator()(Drop const& s) const { return "drop " + handle(s.handle); }
  std::string operator()(Submit const& s) const {
    return "submit " + to_text(s.work) + " (form " + std::to_string(s.form) +
           "): " + to_text(task_form(s.form), s.handles, pair(s.scratch));
  }
  std::string operator()(Outside const& s) const {
    return (s.after ? "submit_after " : "submit_outside after " + std::to_string(s.calls) + " calls ") +
           to_text(s.work) + " (form " + std::to_string(s.form) + "): " + to_text(outside_form(s.form), s.handles, "");
  }
  std::string operator()(Nest const& s) const {
    return "submit " + to_text(s.work) + ": read(" + handle(s.outer) + "), which submits to depth " +
           std::to_string(s.depth) + ": " + use_names[at(s.use)] + "(" + handle(s.inner) + ")";
  }
  std::string operator()(WaitAll const&) const { return "wait()"; }
  std::string operator()(WaitFor const& s) const {
    return "wait(" + handle(s.handles[0]) + (s.handles[1] != s.handles[0] ? ", " + handle(s.handles[1]) : "") + ")";
  }
  std::string operator()(WaitTask const& s) const { return "wait for task " + std::to_string(s.task); }
  std::string operator()(Get const& s) const { return handle(s.handle) + ".get()"; }
  std::string operator()(Change const& s) const {
    return "the application changes array " + std::to_string(s.array) + (s.on_device ? " (device side)" : "") + ", " +
           to_text(s.region);
  }
  std::string operator()(Prefetch const& s) const {
    return "prefetch " + handle(s.handle) + " to node " + std::to_string(s.node);
  }
  std::string operator()(WillNotUse const& s) const { return "will not use " + handle(s.handle); }
  std::string operator()(Recover const& s) const {
    return "drop the handles on array " + std::to_string(s.array) + " and fill it";
  }
  std::string operator()(Refuse const& s) const {
    return "refused: " + std::string(call_names[at(s.call)]) + ", " + handle(s.handle);
  }
};

}  // namespace

Kind kind_of_parts(Kind kind) {
  if (rank_one(kind)) return Kind::Line;
  return kind == Kind::OnDevice || kind == Kind::DevicePart ? Kind::DevicePart : Kind::Block;
}

bool rank_one(Kind kind) { return kind == Kind::Vector || kind == Kind::Line; }

std::vector<Region> cut(Region const& region, std::array<std::size_t, 2> tiles) {
  std::vector<Region> parts;
  for (std::size_t i = 0; i < region.extents[0]; i += tiles[0]) {
    for (std::size_t j = 0; j < region.extents[1]; j += tiles[1]) {
      parts.push_back(
          region.part({i, j}, {std::min(i + tiles[0], region.extents[0]), std::min(j + tiles[1], region.extents[1])}));
    }
  }
  return parts;
}

std::string to_text(Step const& step) { return std::visit(Describe{}, step); }

std::string to_text(Program const& program) {
  auto const& options = program.options;
  std::ostringstream text;
  text << "seed " << program.seed << ": " << options.scheduler << ", " << options.eviction << ", " << *options.workers
       << " workers, devices " << options.devices << ", host memory " << options.host_memory << ", device memory "
       << options.device_memory << ", lanes " << options.device_lanes << ", link " << options.link_bytes_per_second
       << " B/s, depth " << options.depth << ", max_live_tasks " << options.max_live_tasks << ", booking "
       << options.booking << (program.waits ? "" : ", ends without wait()") << '\n';
  for (std::size_t a = 0; a < program.arrays.size(); ++a)
    text << "array " << a << ": " << to_text(program.arrays[a]) << '\n';
  for (auto const& step : program.steps) text << to_text(step) << '\n';
  return text.str();
}

}  // namespace granary::facade_test
