// Chakra files written by hand, message by message, so that the tests do not trust our own writer.
#pragma once

#include "photonrail/formats/trace.hpp"
#include "support/folder.hpp"
#include "support/graph_parts.hpp"

#include <zlib.h>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::test {

/// A number below `end`.
inline std::size_t below(std::mt19937_64& random, std::size_t end) { return static_cast<std::size_t>(random() % end); }

// Node types of the format.
inline constexpr int kMetadata = 1, kMemoryLoad = 2, kMemoryStore = 3, kCompute = 4, kSend = 5, kReceive = 6,
                     kCollective = 7;

/// A Node message. Attribute field numbers: 3 double, 5 float, 7 int32, 9 int64, 11 uint32, 13 uint64, 15 sint32,
/// 17 sint64, 19 fixed32, 21 fixed64, 23 sfixed32, 25 sfixed64, 27 bool, 29 string.
class Node {
 public:
  Node(std::uint64_t id, int type, std::string_view name = {}) {
    protozero::pbf_writer w(data_);
    w.add_uint64(1, id);
    if (!name.empty()) w.add_string(2, name.data(), name.size());
    w.add_enum(3, type);
  }

  Node& waits_for(const std::vector<std::uint64_t>& ids, protozero::pbf_tag_type field = 5) {
    protozero::pbf_writer(data_).add_packed_uint64(field, ids.begin(), ids.end());
    return *this;
  }
  Node& duration_micros(std::uint64_t micros) {
    protozero::pbf_writer(data_).add_uint64(7, micros);
    return *this;
  }
  template <class Add>
  Node& attribute(std::string_view name, Add&& add) {
    protozero::pbf_writer node(data_);
    protozero::pbf_writer a(node, 10);
    a.add_string(1, name.data(), name.size());
    add(a);
    return *this;
  }
  Node& number(std::string_view name, std::int64_t value) {
    return attribute(name, [&](auto& a) { a.add_int64(9, value); });
  }
  Node& text(std::string_view name, std::string_view value) {
    return attribute(name, [&](auto& a) { a.add_string(29, value.data(), value.size()); });
  }
  [[nodiscard]] const std::string& data() const { return data_; }

 private:
  std::string data_;
};

inline std::string framed(const std::string& message) {
  std::string out;
  protozero::write_varint(std::back_inserter(out), message.size());
  return out + message;
}

/// A whole file.
inline std::string trace(const std::vector<Node>& nodes, std::string_view version = "0.0.4") {
  std::string metadata;
  if (!version.empty()) protozero::pbf_writer(metadata).add_string(1, version.data(), version.size());
  std::string out = framed(metadata);
  for (const Node& n : nodes) out += framed(n.data());
  return out;
}

inline std::string gzipped(std::string_view data) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, static_cast<uLong>(data.size())) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Writes t.0.et, t.1.et ... and returns the options that read them.
inline ChakraOptions put(const Folder& folder, const std::vector<std::string>& files) {
  for (std::size_t r = 0; r < files.size(); ++r) folder.write("t." + std::to_string(r) + ".et", files[r]);
  ChakraOptions options;
  options.prefix = folder.path() / "t";
  return options;
}

inline TaskGraph read(const std::vector<std::vector<Node>>& ranks, ChakraOptions options = {},
                      std::string_view groups = {}) {
  const Folder folder;
  std::vector<std::string> files;
  for (const auto& nodes : ranks) files.push_back(trace(nodes));
  options.prefix = put(folder, files).prefix;
  if (!groups.empty()) options.comm_groups = folder.write("groups.json", groups);
  return read_chakra(options);
}

inline std::string error_of_reading(const std::vector<std::vector<Node>>& ranks, const ChakraOptions& options = {},
                                    std::string_view groups = {}) {
  return message_of([&] { static_cast<void>(read(ranks, options, groups)); });
}

inline Node collective(std::uint64_t id, int type, std::int64_t size, std::string_view group = {}) {
  Node n(id, kCollective, "collective");
  n.number("comm_type", type).number("comm_size", size);
  return group.empty() ? n : n.text("pg_name", group);
}

inline Node send(std::uint64_t id, std::int64_t to, std::int64_t size, std::int64_t tag = 0) {
  return Node(id, kSend, "send").number("comm_dst", to).number("comm_size", size).number("comm_tag", tag);
}

inline Node receive(std::uint64_t id, std::int64_t from, std::int64_t size, std::int64_t tag = 0) {
  return Node(id, kReceive, "receive").number("comm_src", from).number("comm_size", size).number("comm_tag", tag);
}

}  // namespace photonrail::test
