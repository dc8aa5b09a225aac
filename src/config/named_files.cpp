#include "config/named_files.hpp"

#include "config/scenario_parts.hpp"
#include "core/fnv1a.hpp"
#include "formats/chakra/files.hpp"
#include "formats/kineto/files.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace photonrail::config {

using core::fnv1a;
using core::hex;
using core::kFnv1aStart;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCharacters = 4096;  // of a path, on Linux
constexpr std::size_t kPiece = std::size_t{1} << 16;

// A pattern that no file fits, or a folder without traces, names nothing; that is for the reader of the workload to say.
std::vector<fs::path> kineto_traces(const fs::path& path) {
  try {
    return formats::kineto::find_files(path);
  } catch (const ConfigError&) {
    return {};
  }
}

}  // namespace

const std::map<std::string, std::set<std::uint32_t>>& NamedFiles::chakra_traces(const fs::path& folder) {
  const auto [at, fresh] = listed_.try_emplace(folder);
  if (fresh) at->second = formats::chakra::traces_in(folder);
  return at->second;
}

std::vector<fs::path> NamedFiles::in(std::string_view text) {
  if (text.empty() || text.size() > kMaxCharacters || text.find('\0') != std::string_view::npos) return {};
  fs::path path;
  try {
    const Json value(std::string{text});
    path = read_path(JsonReader(value), directory_);
  } catch (const ConfigError&) {  // names a variable of the environment that is not set
    return {};
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_regular_file(status)) return {path};
  const std::string name = path.filename().string();
  if (fs::is_directory(status) || std::count(name.begin(), name.end(), '*') == 1) return kineto_traces(path);
  const auto& traces = chakra_traces(path.has_parent_path() ? path.parent_path() : fs::path("."));
  const auto found = traces.find(name);
  std::vector<fs::path> files;
  if (found == traces.end()) return files;
  for (const std::uint32_t rank : found->second) files.push_back(formats::chakra::trace_file(path, rank));
  return files;
}

void each_string(const Json& value, const std::function<void(const std::string&)>& use) {
  if (value.is_string()) return use(value.string());
  if (value.is_array()) {
    for (const Json& child : value.elements()) each_string(child, use);
  } else if (value.is_object()) {
    for (const Json::Member& member : value.members()) each_string(member.value, use);
  }
}

namespace {

/// A file that is being hashed, piece by piece.
class HashedFile {
 public:
  HashedFile(const fs::path& file, std::size_t number)
      : number_(number), in_(file, std::ios::binary), piece_(kPiece, '\0') {
    if (!in_) throw ConfigError(file.string(), "cannot be read", "check its permissions");
    refill();
  }

  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] std::string_view left() const { return std::string_view(piece_).substr(at_, size_ - at_); }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  /// Notes that `bytes` of left() have been hashed.
  void advance(std::size_t bytes, std::uint64_t hash) {
    hash_ = hash;
    at_ += bytes;
    if (at_ == size_) refill();
  }

 private:
  void refill() {
    at_ = size_ = 0;
    if (!in_) return;
    in_.read(piece_.data(), static_cast<std::streamsize>(piece_.size()));
    size_ = static_cast<std::size_t>(in_.gcount());
  }

  std::size_t number_;
  std::ifstream in_;
  std::string piece_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;  // 0: the file is at its end
  std::uint64_t hash_ = kFnv1aStart;
};

constexpr std::size_t kTogether = 4;

// FNV-1a waits for the product of every byte, so that four files at a time take little longer than one.
void hash_together(std::vector<HashedFile>& files) {
  std::size_t bytes = kPiece;
  for (const HashedFile& file : files) bytes = std::min(bytes, file.left().size());
  std::array<const char*, kTogether> from{};
  std::array<std::uint64_t, kTogether> hash{};
  for (std::size_t f = 0; f < kTogether; ++f) {
    from[f] = files[f].left().data();
    hash[f] = files[f].hash();
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    for (std::size_t f = 0; f < kTogether; ++f) hash[f] = fnv1a({from[f] + i, 1}, hash[f]);
  }
  for (std::size_t f = 0; f < kTogether; ++f) files[f].advance(bytes, hash[f]);
}

std::vector<std::string> content_hashes(std::span<const fs::path> files) {
  std::vector<std::string> hashes(files.size());
  std::vector<HashedFile> open;
  for (std::size_t next = 0; next < files.size() || !open.empty();) {
    for (; next < files.size() && open.size() < kTogether; ++next) open.emplace_back(files[next], next);
    if (open.size() == kTogether) {
      hash_together(open);
    } else {
      for (HashedFile& file : open) file.advance(file.left().size(), fnv1a(file.left(), file.hash()));
    }
    std::erase_if(open, [&](const HashedFile& file) {
      if (!file.left().empty()) return false;
      hashes[file.number()] = hex(file.hash());
      return true;
    });
  }
  return hashes;
}

}  // namespace

std::string content_hash(const fs::path& file) { return content_hashes({&file, 1}).front(); }

std::uint64_t fold_file(const fs::path& file, const std::string& content, std::uint64_t hash) {
  return fnv1a(file.filename().string() + "=" + content + "\n", hash);
}

std::string scenario_hash(const Json& scenario, const fs::path& directory) {
  NamedFiles named(directory);
  std::set<fs::path> files;
  each_string(scenario, [&](const std::string& text) {
    for (fs::path& file : named.in(text)) files.insert(std::move(file));
  });
  std::uint64_t hash = fnv1a(scenario.canonical());
  const std::vector<fs::path> in_order(files.begin(), files.end());
  const std::vector<std::string> hashes = content_hashes(in_order);
  for (std::size_t f = 0; f < in_order.size(); ++f) hash = fold_file(in_order[f], hashes[f], hash);
  return hex(hash);
}

}  // namespace photonrail::config
