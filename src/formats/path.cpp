// Paths in files, with what the environment says.
#include "formats/path.hpp"

#include <cstdlib>

namespace photonrail::formats {

namespace {

using json::JsonReader;

// The value of "NAME" or "NAME:-default".
std::string from_environment(const JsonReader& value, std::string_view expression) {
  const auto split = expression.find(":-");
  const std::string name(expression.substr(0, split));
  const char* found = std::getenv(name.c_str());
  if (found != nullptr && *found != '\0') return found;
  if (split != std::string_view::npos) return std::string(expression.substr(split + 2));
  value.fail("the environment variable " + name + " is not set",
             "set it, or write ${" + name + ":-default}, or --set " + value.pointer() + "=PATH");
}

}  // namespace

std::filesystem::path read_path(const json::JsonReader& value, const std::filesystem::path& directory) {
  const std::string text = value.string();
  if (text.empty()) value.fail("the path is empty");
  std::string path;
  std::size_t at = 0;
  for (std::size_t open = 0; (open = text.find("${", at)) != std::string::npos;) {
    const auto close = text.find('}', open);
    if (close == std::string::npos) value.fail("\"${\" without \"}\"");
    path += text.substr(at, open - at) + from_environment(value, std::string_view(text).substr(open + 2, close - open - 2));
    at = close + 1;
  }
  path += text.substr(at);
  return directory / path;  // an absolute path stays what it is
}

}  // namespace photonrail::formats
