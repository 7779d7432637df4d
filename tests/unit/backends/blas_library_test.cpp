// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_library.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

namespace granary {

using namespace detail;

namespace {

constexpr VectorUnits processors[] = {VectorUnits::Unknown, VectorUnits::Sse, VectorUnits::Avx, VectorUnits::Avx2,
                                      VectorUnits::Avx512};

BlasLibrary openblas(std::string const& kernels, std::string const& build = "DYNAMIC_ARCH NO_AFFINITY") {
  return {.name = "OpenBLAS",
          .version = "0.3.21",
          .kernels = kernels,
          .text = "OpenBLAS 0.3.21 " + build + " " + kernels + " MAX_THREADS=64"};
}

BlasLibrary blis(std::string const& kernels) {
  return {.name = "BLIS", .version = "0.9.0", .kernels = kernels, .text = "BLIS 0.9.0 " + kernels};
}

// The value for the processor; empty if there is none.
std::string core_type(BlasLibrary const& blas, VectorUnits processor) {
  auto const setting = faster_blas_setting(blas, processor);
  if (!setting) return "";
  EXPECT_EQ(setting->variable, "OPENBLAS_CORETYPE");
  return setting->value;
}

void expect_no_setting(BlasLibrary const& blas) {
  for (auto const processor : processors) {
    EXPECT_EQ(core_type(blas, processor), "") << blas.text << " on " << name_of(processor);
  }
}

#if defined(__x86_64__)

TEST(BlasKernels, HaveTheVectorsThatTheirNamesSay) {
  auto const expect = [](VectorUnits vectors, std::vector<std::string> const& names) {
    for (auto const& name : names) EXPECT_EQ(BlasLibrary{.kernels = name}.vectors(), vectors) << name;
  };
  // In the words of OpenBLAS, of BLIS (small letters), and of MKL.
  expect(VectorUnits::Sse, {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Atom", "Nano", "Opteron",
                            "Opteron_SSE3", "Barcelona", "Bobcat", "penryn", "generic", "SSE"});
  expect(VectorUnits::Avx,
         {"Sandybridge", "Bulldozer", "Piledriver", "Steamroller", "Excavator", "sandybridge", "bulldozer", "AVX"});
  expect(VectorUnits::Avx2, {"Haswell", "Zen", "haswell", "zen", "zen2", "zen3", "AVX2"});
  expect(VectorUnits::Avx512, {"SkylakeX", "Cooperlake", "SapphireRapids", "skx", "knl", "zen4", "zen5", "AVX-512"});
  expect(VectorUnits::Unknown, {"", "armv8", "neoversen1", "POWER9", "Haswell2", "NewestLake"});
}

TEST(FasterBlasSetting, GivesOpenBlasTheKernelsOfTheProcessor) {
  for (auto const* kernels : {"Prescott", "Core2", "Nehalem", "Sandybridge"}) {
    EXPECT_EQ(core_type(openblas(kernels), VectorUnits::Avx512), "SkylakeX") << kernels;
    EXPECT_EQ(core_type(openblas(kernels), VectorUnits::Avx2), "Haswell") << kernels;
    EXPECT_EQ(core_type(openblas(kernels), VectorUnits::Avx), "") << kernels;
    EXPECT_EQ(core_type(openblas(kernels), VectorUnits::Sse), "") << kernels;
    EXPECT_EQ(core_type(openblas(kernels), VectorUnits::Unknown), "") << kernels;
  }
  for (auto const* kernels : {"Haswell", "Zen"}) {
    EXPECT_EQ(core_type(openblas(kernels), VectorUnits::Avx512), "SkylakeX") << kernels;
    EXPECT_EQ(core_type(openblas(kernels), VectorUnits::Avx2), "") << kernels;
  }
}

#endif

TEST(FasterBlasSetting, IsNoneForTheBestKernels) {
  for (auto const* kernels : {"SkylakeX", "Cooperlake", "SapphireRapids"}) expect_no_setting(openblas(kernels));
}

TEST(FasterBlasSetting, IsNoneIfTheLibraryHasOnlyThoseKernels) {
  for (auto const* kernels : {"Prescott", "Haswell"}) expect_no_setting(openblas(kernels, "NO_AFFINITY"));
}

TEST(FasterBlasSetting, IsNoneIfNothingIsKnownOfTheKernels) {
  expect_no_setting(openblas("NewestLake"));
  expect_no_setting(openblas(""));
  expect_no_setting({.name = "libblas.so.3", .text = "libblas.so.3"});
  expect_no_setting({});
}

// The values of their variables differ between versions, or cannot raise the choice.
TEST(FasterBlasSetting, IsNoneForOtherLibraries) {
  for (auto const* kernels : {"haswell", "generic", "penryn", "skx"}) expect_no_setting(blis(kernels));
  for (auto const* kernels : {"SSE", "AVX", "AVX2"}) {
    expect_no_setting({.name = "MKL", .version = "2023.0", .kernels = kernels, .text = "DYNAMIC_ARCH"});
  }
}

TEST(BlasLibraryIdentity, IsAWordForTheNameOfAFolder) {
  EXPECT_EQ(openblas("SkylakeX").id(), "OpenBLAS-0.3.21-SkylakeX");
  EXPECT_EQ(openblas("Prescott").id(), "OpenBLAS-0.3.21-Prescott");
  EXPECT_EQ(blis("skx").id(), "BLIS-0.9.0-skx");
  EXPECT_EQ((BlasLibrary{.name = "MKL", .version = "2023.0-Product", .kernels = "AVX-512"}).id(),
            "MKL-2023.0-Product-AVX-512");
  EXPECT_EQ((BlasLibrary{.name = "libblas.so.3"}).id(), "libblas.so.3");
  EXPECT_EQ((BlasLibrary{.name = "my/../BLAS (new)", .version = "v 1", .kernels = "Kühn/"}).id(),
            "my-..-BLAS-new-v-1-K-hn");
  EXPECT_EQ((BlasLibrary{}).id(), "");
  EXPECT_EQ((BlasLibrary{.name = "(/)"}).id(), "");
}

// Whatever BLAS this is.
TEST(FindBlasLibrary, DescribesTheLibraryOfThisProcess) {
  auto const blas = find_blas_library();
  ASSERT_FALSE(blas.name.empty());
  ASSERT_FALSE(blas.text.empty());
  EXPECT_EQ(blas.text.find('\n'), std::string::npos);
  EXPECT_EQ(blas.id().find_first_of("/ \n"), std::string::npos);
  EXPECT_TRUE(blas.file.empty() || std::filesystem::exists(blas.file)) << blas.file;
  if (::dlsym(RTLD_DEFAULT, "openblas_get_config") != nullptr && blas.name == "OpenBLAS") {
    EXPECT_FALSE(blas.version.empty());
    EXPECT_FALSE(blas.kernels.empty());
    EXPECT_NE(blas.text.find(blas.version), std::string::npos);
  }
  auto const again = find_blas_library();
  EXPECT_EQ(again.id(), blas.id());
  EXPECT_EQ(again.file, blas.file);
  EXPECT_EQ(again.text, blas.text);
  EXPECT_EQ(again.vectors(), blas.vectors());
}

// A setting is for kernels with narrower vectors than the processor's.
TEST(FindBlasLibrary, HasASettingOnlyForNarrowerVectors) {
  auto const blas = find_blas_library();
  auto const processor = processor_vector_units();
  if (faster_blas_setting(blas, processor)) {
    EXPECT_LT(blas.vectors(), processor);
  }
}

}  // namespace
}  // namespace granary
