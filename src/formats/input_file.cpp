#include "formats/input_file.hpp"
#include "core/inside.hpp"

#include "photonrail/error.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

namespace photonrail::formats {

namespace {

// Compressed data unpacks to at most this, or to kMaxExpansion times its size where that is more
// (docs/reference/limits.md).
constexpr std::size_t kMaxUnpacked = std::size_t{256} << 20;
constexpr std::size_t kMaxExpansion = 400;

constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, with a gzip header

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

[[noreturn]] void fail_at(std::size_t offset, std::string what, std::string hint = {}) {
  throw ConfigError("byte " + std::to_string(offset), std::move(what), std::move(hint));
}

// Unpacks the member that begins at `at`; returns where it ends.
std::size_t unpack_member(std::string_view data, std::size_t at, std::size_t most, std::string& out) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw ConfigError("", "zlib cannot start");
  const std::unique_ptr<z_stream, EndInflate> ends(&stream);
  std::array<char, std::size_t{1} << 16> piece;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      const std::size_t given = std::min<std::size_t>(data.size() - at, std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data() + at));  // zlib's API; it only reads
      stream.avail_in = static_cast<uInt>(given);
      at += given;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t offset = at - stream.avail_in;
    const std::size_t unpacked = piece.size() - stream.avail_out;
    const bool ends_early = status == Z_BUF_ERROR || (status == Z_OK && unpacked == 0 && offset == data.size());
    if (ends_early) fail_at(data.size(), "the gzip data ends too early", "is the file complete?");
    if (status != Z_OK && status != Z_STREAM_END) {
      fail_at(offset, "the gzip data is damaged" + (stream.msg != nullptr ? ": " + std::string(stream.msg) : ""));
    }
    if (unpacked > most - out.size())
      fail_at(offset, "the gzip data unpacks to more than " + std::to_string(most) + " bytes",
              "unpack it yourself if it is meant to");
    out.append(piece.data(), unpacked);
  }
  return at - stream.avail_in;
}

}  // namespace

bool is_gzip(std::string_view data) { return data.starts_with("\x1f\x8b"); }

std::string gunzip(std::string_view data, std::size_t most) {
  std::string out;
  for (std::size_t at = 0; at < data.size();) {
    if (!is_gzip(data.substr(at))) fail_at(at, "the bytes after the gzip data are not gzip data");
    at = unpack_member(data, at, most, out);
  }
  return out;
}

std::string read_file(const std::filesystem::path& file) {
  std::string data = json::file_text(file);
  if (!is_gzip(data)) return data;
  return core::inside(file.string(), [&] {
    return gunzip(data, std::min<std::size_t>(kMaxFileBytes, std::max(kMaxUnpacked, data.size() * kMaxExpansion)));
  });
}

}  // namespace photonrail::formats
