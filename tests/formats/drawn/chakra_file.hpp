// Chakra files message by message: fields in any order, numbers of any kind that holds them, lists packed or not, lengths
// that are longer than they need be, and fields that other tools write.
#pragma once

#include "formats/drawn/drawn.hpp"

#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include <cmath>
#include <optional>

namespace photonrail::test::drawn {

namespace chakra_type {
inline constexpr int kMetadata = 1, kMemoryLoad = 2, kMemoryStore = 3, kCompute = 4, kSend = 5, kReceive = 6,
                     kCollective = 7;
}

struct ChakraNode {
  std::uint64_t id = 0;
  int type = chakra_type::kCompute;
  std::string name{};
  std::optional<std::uint64_t> micros{};
  std::vector<std::uint64_t> data{};
  std::vector<std::uint64_t> control{};
  std::map<std::string, std::uint64_t> numbers{};  ///< attributes
  std::map<std::string, std::string> texts{};
  std::optional<double> operations{};
  std::vector<bool> dimensions{};
};

class ChakraFile {
 public:
  ChakraFile(Draw& style, Cover& cover) : style_(style), cover_(cover) {}

  std::string of(std::vector<ChakraNode> nodes, bool version) {
    if (style_.one_in(3)) style_.shuffle(nodes);
    std::string metadata;
    if (version) protozero::pbf_writer(metadata).add_string(1, "0.0.4");
    if (style_.one_in(3)) protozero::pbf_writer(metadata).add_bytes(2, "more");
    std::string out = framed(metadata);
    for (const ChakraNode& node : nodes) out += framed(message(node));
    return maybe_gzip(style_, out);
  }

 private:
  template <class Add>
  static std::string piece(Add&& add) {
    std::string out;
    protozero::pbf_writer writer(out);
    add(writer);
    return out;
  }

  std::string framed(const std::string& message) {
    std::string length;
    protozero::write_varint(std::back_inserter(length), message.size());
    if (style_.one_in(8)) {  // as writers do that leave room for the length
      length.back() = static_cast<char>(static_cast<unsigned char>(length.back()) | 0x80U);
      length += style_.one_in(2) ? std::string(1, '\0') : std::string("\x80\0", 2);
    }
    return length + message;
  }

  std::string joined(std::vector<std::string> pieces) {
    if (style_.one_in(2)) style_.shuffle(pieces);
    std::string out;
    for (const std::string& one : pieces) out += one;
    return out;
  }

  std::string message(const ChakraNode& node) {
    for (const char* field : {"kNodeId", "kNodeName", "kNodeKind", "kNodeAttribute"}) cover_.add(field);
    if (node.micros) cover_.add("kDurationMicros");
    if (!node.data.empty()) cover_.add("kDataDependencies");
    if (!node.control.empty()) cover_.add("kControlDependencies");
    std::vector<std::string> fields;
    if (node.id != 0 || style_.one_in(2)) fields.push_back(piece([&](auto& w) { w.add_uint64(1, node.id); }));
    if (!node.name.empty()) fields.push_back(piece([&](auto& w) { w.add_string(2, node.name); }));
    fields.push_back(piece([&](auto& w) { w.add_enum(3, node.type); }));
    add_dependencies(4, node.control, fields);
    add_dependencies(5, node.data, fields);
    if (node.micros) fields.push_back(piece([&](auto& w) { w.add_uint64(7, *node.micros); }));
    if (style_.one_in(4))
      fields.push_back(piece([&](auto& w) { w.add_uint64(6, 1'719'000'000); }));  // begin of a recording
    if (style_.one_in(6)) fields.push_back(piece([&](auto& w) { w.add_message(8, std::string("\x0A\x03[1]")); }));
    if (style_.one_in(6)) fields.push_back(piece([&](auto& w) { w.add_fixed64(99, 5); }));
    for (const auto& [name, value] : node.numbers) fields.push_back(attribute(name, number(name, value)));
    for (const auto& [name, value] : node.texts) {
      const bool bytes = style_.one_in(4);
      cover_.add(bytes ? "kBytes" : "kString");
      fields.push_back(attribute(name, piece([&](auto& w) { w.add_string(bytes ? 31 : 29, value); })));
    }
    if (node.operations) fields.push_back(attribute("num_ops", real(*node.operations)));
    if (!node.dimensions.empty()) fields.push_back(attribute("involved_dim", flags(node.dimensions)));
    if (style_.one_in(4))
      fields.push_back(attribute("op_schema", piece([&](auto& w) { w.add_string(29, "aten::mm(Tensor)"); })));
    if (style_.one_in(4)) fields.push_back(attribute("rf_id", piece([&](auto& w) { w.add_uint64(13, 77); })));
    if (style_.one_in(6))
      fields.push_back(attribute("strides", piece([&](auto& w) { w.add_message(10, std::string("\x0A\x01\x05")); })));
    return joined(std::move(fields));
  }

  void add_dependencies(protozero::pbf_tag_type field, const std::vector<std::uint64_t>& ids,
                        std::vector<std::string>& fields) {
    const std::size_t cut = style_.one_in(3) ? style_.below(ids.size() + 1) : ids.size();
    if (cut > 0)
      fields.push_back(
          piece([&](auto& w) { w.add_packed_uint64(field, ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(cut)); }));
    for (std::size_t i = cut; i < ids.size(); ++i) fields.push_back(piece([&](auto& w) { w.add_uint64(field, ids[i]); }));
  }

  std::string attribute(const std::string& name, const std::string& value) {
    cover_.add(name);
    std::vector<std::string> parts{piece([&](auto& w) { w.add_string(1, name); }), value};
    if (style_.one_in(8)) parts.push_back(piece([](auto& w) { w.add_string(2, "a comment"); }));
    const std::string body = joined(parts);
    return piece([&](auto& w) { w.add_message(10, body); });
  }

  std::string real(double value) {
    if (value == std::floor(value) && value < 9e15 && style_.one_in(2))
      return number("num_ops", static_cast<std::uint64_t>(value));
    const bool is_float = static_cast<double>(static_cast<float>(value)) == value;
    cover_.add(is_float ? "kFloat" : "kDouble");
    return piece([&](auto& w) { is_float ? w.add_float(5, static_cast<float>(value)) : w.add_double(3, value); });
  }

  std::string flags(const std::vector<bool>& values) {
    cover_.add("kBoolList");
    std::string body;
    protozero::pbf_writer list(body);
    if (style_.one_in(2)) {
      const std::vector<char> bytes(values.begin(), values.end());
      list.add_packed_bool(1, bytes.begin(), bytes.end());
    } else {
      for (const bool value : values) list.add_bool(1, value);
    }
    return piece([&](auto& w) { w.add_message(28, body); });
  }

  /// A whole number as any kind of value that holds it.
  std::string number(const std::string& name, std::uint64_t v) {
    using Writer = protozero::pbf_writer;
    struct Form {
      const char* name;
      std::uint64_t most;
      void (*add)(Writer&, std::uint64_t);
    };
    static const std::vector<Form> forms{
        {"kInt64", INT64_MAX, [](Writer& w, std::uint64_t x) { w.add_int64(9, static_cast<std::int64_t>(x)); }},
        {"kUint64", UINT64_MAX, [](Writer& w, std::uint64_t x) { w.add_uint64(13, x); }},
        {"kInt32", INT32_MAX, [](Writer& w, std::uint64_t x) { w.add_int32(7, static_cast<std::int32_t>(x)); }},
        {"kUint32", UINT32_MAX, [](Writer& w, std::uint64_t x) { w.add_uint32(11, static_cast<std::uint32_t>(x)); }},
        {"kSint32", INT32_MAX, [](Writer& w, std::uint64_t x) { w.add_sint32(15, static_cast<std::int32_t>(x)); }},
        {"kSint64", INT64_MAX, [](Writer& w, std::uint64_t x) { w.add_sint64(17, static_cast<std::int64_t>(x)); }},
        {"kFixed32", UINT32_MAX, [](Writer& w, std::uint64_t x) { w.add_fixed32(19, static_cast<std::uint32_t>(x)); }},
        {"kFixed64", UINT64_MAX, [](Writer& w, std::uint64_t x) { w.add_fixed64(21, x); }},
        {"kSfixed32", INT32_MAX, [](Writer& w, std::uint64_t x) { w.add_sfixed32(23, static_cast<std::int32_t>(x)); }},
        {"kSfixed64", INT64_MAX, [](Writer& w, std::uint64_t x) { w.add_sfixed64(25, static_cast<std::int64_t>(x)); }},
        {"kDouble", std::uint64_t{1} << 53U, [](Writer& w, std::uint64_t x) { w.add_double(3, static_cast<double>(x)); }},
        {"kFloat", 1 << 24, [](Writer& w, std::uint64_t x) { w.add_float(5, static_cast<float>(x)); }},
        {"kBool", 1, [](Writer& w, std::uint64_t x) { w.add_bool(27, x != 0); }}};
    std::vector<Form> fitting;
    for (const Form& form : forms) {
      // The name of a group is a text in most files; a bool is none.
      const bool holds = v <= form.most && !(name == "pg_name" && std::string(form.name) == "kBool");
      if (holds) fitting.push_back(form);
    }
    const Form form = style_.one_in(2) ? fitting.front() : style_.pick(fitting);
    cover_.add(form.name);
    return piece([&](Writer& w) { form.add(w, v); });
  }

  Draw& style_;
  Cover& cover_;
};

}  // namespace photonrail::test::drawn
