// Finds the reference data that is not part of the repository, and skips loudly where it is absent.
#pragma once

#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace photonrail::test {

/// PHOTONRAIL_SHARED_DATA where it is set, else ../shared/data beside the checkout; nullopt when that is no folder.
inline std::optional<std::filesystem::path> shared_data() {
  if (const char* named = std::getenv("PHOTONRAIL_SHARED_DATA")) {
    return std::filesystem::is_directory(named) ? std::optional<std::filesystem::path>(named) : std::nullopt;
  }
  const auto beside = std::filesystem::path(PHOTONRAIL_SOURCE_DIR).parent_path() / "shared" / "data";
  if (std::filesystem::is_directory(beside)) return beside;
  return std::nullopt;
}

}  // namespace photonrail::test

#define PHOTONRAIL_REQUIRE_SHARED_DATA(variable)                                                                  \
  const auto variable##_found = ::photonrail::test::shared_data();                                                \
  if (!variable##_found) {                                                                                        \
    GTEST_SKIP() << "SKIPPED, NOT CHECKED: no shared data beside the checkout; set PHOTONRAIL_SHARED_DATA to it"; \
  }                                                                                                               \
  const std::filesystem::path& variable = *variable##_found
