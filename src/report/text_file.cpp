#include "report/text_file.hpp"

#include "photonrail/error.hpp"

#include <fstream>
#include <iterator>
#include <system_error>

namespace photonrail::report {

std::string text_of_file(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, ignored))
    throw ConfigError(file.string(), "cannot be read", "check the path");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) throw ConfigError(file.string(), "cannot be read to its end");
  return text;
}

}  // namespace photonrail::report
