// The files that come with the library, compiled in by the build.
#pragma once

#include <span>
#include <string_view>

namespace photonrail::config {

struct EmbeddedFile {
  std::string_view name;  ///< of the file, without its extension
  std::string_view text;
};
/// By name, ascending.
[[nodiscard]] std::span<const EmbeddedFile> model_files();      ///< configs/models/*.json
[[nodiscard]] std::span<const EmbeddedFile> catalogue_files();  ///< configs/catalogues/*.json

}  // namespace photonrail::config
