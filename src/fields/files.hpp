// What tables of fields need of a file: the folder that its paths are relative to, and the values that lines of a table
// use.
#pragma once

#include "fields/field.hpp"

#include <filesystem>

namespace photonrail::fields {

/// The folder that paths are relative to.
struct FileContext : Context {
  explicit FileContext(const std::filesystem::path& folder) : directory(folder) {}
  const std::filesystem::path& directory;
};

template <class Value>
[[nodiscard]] const Value& context_of(const Reading& at) {
  return static_cast<const Value&>(*at.context);
}

[[nodiscard]] inline const std::filesystem::path& folder_of(const Reading& at) {
  return context_of<FileContext>(at).directory;
}

/// The object that a section is read into.
template <class Value>
[[nodiscard]] Value& into(const Reading& at) {
  return *static_cast<Value*>(at.into);
}

/// The path of a file.
inline constexpr Shape kPathShape = text_shape();

}  // namespace photonrail::fields
