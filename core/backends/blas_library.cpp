// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_library.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>

namespace granary::detail {
namespace {

struct Close {
  void operator()(void* handle) const { ::dlclose(handle); }
};

// The library that has the process's dgemm_, and the libraries that it is linked with; of the executable, all.
class Functions {
 public:
  Functions() {
    void* const dgemm = ::dlsym(RTLD_DEFAULT, "dgemm_");
    Dl_info found{};
    if (dgemm == nullptr || ::dladdr(dgemm, &found) == 0 || found.dli_fname == nullptr) return;
    m_handle.reset(::dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
    if (m_handle) m_file = found.dli_fname;
  }

  template <class Function>
  [[nodiscard]] Function* get(char const* name) const {
    return reinterpret_cast<Function*>(::dlsym(m_handle ? m_handle.get() : RTLD_DEFAULT, name));
  }
  [[nodiscard]] std::string const& file() const { return m_file; }

 private:
  std::unique_ptr<void, Close> m_handle;
  std::string m_file;
};

// The word after `before` in a text.
std::string word_after(std::string_view text, std::string_view before) {
  auto const found = text.find(before);
  if (found == std::string_view::npos) return {};
  auto const rest = text.substr(found + before.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

BlasLibrary of_openblas(Functions const& functions, std::string const& text) {
  BlasLibrary blas{.name = "OpenBLAS", .version = word_after(text, "OpenBLAS "), .text = text};
  if (auto* kernels = functions.get<char*()>("openblas_get_corename")) blas.kernels = kernels();
  return blas;
}

BlasLibrary of_mkl(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  BlasLibrary blas{.name = "MKL", .version = word_after(text, "Version "), .text = text};
  for (std::string_view const kernels : {"AVX-512", "AVX2", "AVX", "SSE"}) {
    if (blas.text.find(kernels) == std::string::npos) continue;
    blas.kernels = kernels;
    break;
  }
  return blas;
}

BlasLibrary of_blis(Functions const& functions, std::string version) {
  BlasLibrary blas{.name = "BLIS", .version = std::move(version)};
  auto* init = functions.get<void()>("bli_init");
  auto* number = functions.get<int()>("bli_arch_query_id");
  auto* name = functions.get<char const*(int)>("bli_arch_string");
  if (init != nullptr && number != nullptr && name != nullptr) {
    init();  // without it the query ends the process where BLIS_ARCH_TYPE is set
    blas.kernels = name(number());
  }
  blas.text = "BLIS " + blas.version + (blas.kernels.empty() ? "" : " " + blas.kernels);
  return blas;
}

BlasLibrary describe(Functions const& functions) {
  if (auto* config = functions.get<char*()>("openblas_get_config")) return of_openblas(functions, config());
  if (auto* version = functions.get<void(char*, int)>("mkl_get_version_string")) {
    std::array<char, 256> text{};
    version(text.data(), static_cast<int>(text.size()) - 1);
    return of_mkl(text.data());
  }
  if (auto* version = functions.get<char const*()>("bli_info_get_version_str")) return of_blis(functions, version());
  auto const name = std::filesystem::path(functions.file()).filename().string();
  return {.name = name.empty() ? "BLAS" : name, .text = name.empty() ? "BLAS" : name};
}

struct Kernels {
  std::string_view name;
  VectorUnits vectors;
};

// The kernels of OpenBLAS, BLIS and MKL, in lower case.
constexpr Kernels known_kernels[] = {
    {"prescott", VectorUnits::Sse},      {"core2", VectorUnits::Sse},
    {"penryn", VectorUnits::Sse},        {"dunnington", VectorUnits::Sse},
    {"nehalem", VectorUnits::Sse},       {"atom", VectorUnits::Sse},
    {"nano", VectorUnits::Sse},          {"athlon", VectorUnits::Sse},
    {"katmai", VectorUnits::Sse},        {"coppermine", VectorUnits::Sse},
    {"northwood", VectorUnits::Sse},     {"banias", VectorUnits::Sse},
    {"opteron", VectorUnits::Sse},       {"opteron_sse3", VectorUnits::Sse},
    {"barcelona", VectorUnits::Sse},     {"bobcat", VectorUnits::Sse},
    {"sandybridge", VectorUnits::Avx},   {"bulldozer", VectorUnits::Avx},
    {"piledriver", VectorUnits::Avx},    {"steamroller", VectorUnits::Avx},
    {"excavator", VectorUnits::Avx},     {"haswell", VectorUnits::Avx2},
    {"zen", VectorUnits::Avx2},          {"skylakex", VectorUnits::Avx512},
    {"cooperlake", VectorUnits::Avx512}, {"sapphirerapids", VectorUnits::Avx512},
    {"generic", VectorUnits::Sse},       {"zen2", VectorUnits::Avx2},
    {"zen3", VectorUnits::Avx2},         {"zen4", VectorUnits::Avx512},
    {"zen5", VectorUnits::Avx512},       {"skx", VectorUnits::Avx512},
    {"knl", VectorUnits::Avx512},        {"sse", VectorUnits::Sse},
    {"avx", VectorUnits::Avx},           {"avx2", VectorUnits::Avx2},
    {"avx-512", VectorUnits::Avx512},
};

char small(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

}  // namespace

std::string as_word(std::string const& text) {
  std::string word;
  for (char const c : text) {
    bool const plain = (c >= '0' && c <= '9') || c == '.' || (small(c) >= 'a' && small(c) <= 'z');
    if (plain) word += c;
    if (!plain && !word.empty() && word.back() != '-') word += '-';
  }
  return word;
}

VectorUnits BlasLibrary::vectors() const {
#if defined(__x86_64__)
  auto word = kernels;
  std::ranges::transform(word, word.begin(), small);
  auto const* const found = std::ranges::find(known_kernels, std::string_view(word), &Kernels::name);
  if (found != std::end(known_kernels)) return found->vectors;
#endif
  return VectorUnits::Unknown;
}

std::string BlasLibrary::id() const {
  auto word = as_word(name + " " + version + " " + kernels);
  word.erase(word.find_last_not_of('-') + 1);
  return word;
}

BlasLibrary find_blas_library() {
  Functions const functions;
  auto blas = describe(functions);
  blas.file = functions.file();
  return blas;
}

std::optional<BlasSetting> faster_blas_setting(BlasLibrary const& blas, VectorUnits processor) {
  auto const has = blas.vectors();
  if (has == VectorUnits::Unknown || processor <= has || processor < VectorUnits::Avx2) return std::nullopt;
  bool const wide = processor == VectorUnits::Avx512;
  if (blas.name == "OpenBLAS" && blas.text.find("DYNAMIC_ARCH") != std::string::npos) {
    return BlasSetting{"OPENBLAS_CORETYPE", wide ? "SkylakeX" : "Haswell"};
  }
  return std::nullopt;
}

}  // namespace granary::detail
