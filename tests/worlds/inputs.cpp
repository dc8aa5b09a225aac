#include "worlds/inputs.hpp"

#include "support/source_dir.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace photonrail::worlds {

std::filesystem::path inputs() { return std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "tests/worlds/inputs"; }

void cut_last_line(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const std::string all = text.str();
  std::ofstream(file) << all.substr(0, all.size() - all.size() / 20 - 1);
}

Scratch::Scratch() : folder_(std::filesystem::temp_directory_path() / ("photonrail_worlds_" + std::to_string(::getpid()))) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace photonrail::worlds
