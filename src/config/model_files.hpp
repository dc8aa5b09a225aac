// The models that come with the library: configs/models/*.json, compiled in.
#pragma once

#include <span>
#include <string_view>

namespace photonrail::config {

struct ModelFile {
  std::string_view name;  ///< of the file, without its extension
  std::string_view text;
};
/// By name, ascending. Made by the build.
[[nodiscard]] std::span<const ModelFile> model_files();

}  // namespace photonrail::config
