// A file of JSON: its text, and what is read from that, with errors that name the file.
#pragma once

#include "core/inside.hpp"
#include "json/text.hpp"

#include <string_view>

namespace photonrail::json {

/// Returns what `read` makes of the document. Throws ConfigError: the text is no JSON, and what `read` throws, inside
/// `file`.
template <class Read>
auto in_file(std::string_view text, std::string_view file, Read&& read) {
  Json root = parse_json(text, file);
  return core::inside(file, [&] { return read(root); });
}

}  // namespace photonrail::json
