#include "formats/chakra/trace.hpp"

#include "core/control_character.hpp"
#include "core/counted.hpp"
#include "formats/chakra/attribute.hpp"
#include "photonrail/error.hpp"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

#include <algorithm>
#include <utility>

namespace photonrail::formats::chakra {

namespace {

using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr std::array<std::pair<std::string_view, Number>, 10> kNumberNames{
    {{key::kCommType, Number::kCommType},
     {key::kCommSize, Number::kCommSize},
     {key::kCommSource, Number::kCommSource},
     {key::kCommDestination, Number::kCommDestination},
     {key::kCommTag, Number::kCommTag},
     {key::kTensorSize, Number::kTensorSize},
     {key::kRootRank, Number::kRootRank},
     {key::kRootRankToo, Number::kRootRank},
     {key::kExactDuration, Number::kExactDuration},
     {key::kCommPriority, Number::kCommPriority}}};

std::string_view text_of(protozero::data_view view) { return {view.data(), view.size()}; }

// Names go into one line of a message and into JSON reports. A name that is not UTF-8 would break the latter.
bool is_utf8(std::string_view text) {
  std::size_t following = 0;
  unsigned least = 0x80;
  unsigned most = 0xBF;
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (following > 0) {
      if (byte < least || byte > most) return false;
      --following;
      least = 0x80;
      most = 0xBF;
    } else if (byte >= 0x80) {
      if (byte < 0xC2 || byte > 0xF4) return false;
      following = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
      least = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;  // the shortest form only
      most = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;   // no surrogates, nothing above U+10FFFF
    }
  }
  return following == 0;
}

// Empty pieces have no place: nodes are copied between traces whose texts differ in length.
Range append_name(std::string& to, std::string_view name) {
  if (name.empty()) return {};
  const Range range{static_cast<std::uint32_t>(to.size()), static_cast<std::uint32_t>(name.size())};
  to += name;
  const auto begin = to.begin() + range.first;
  std::replace_if(begin, to.end(), core::is_control, ' ');
  if (!is_utf8(name)) {
    std::replace_if(
        begin, to.end(), [](unsigned char c) { return c >= 0x80; }, '?');
  }
  return range;
}

// Cuts a file into its messages, each behind its length.
class Messages {
 public:
  explicit Messages(std::string_view data) : data_(data) {}

  [[nodiscard]] bool done() const { return at_ == data_.size(); }
  /// Where the latest message began, with its length.
  [[nodiscard]] std::size_t offset() const { return offset_; }

  protozero::data_view next() {
    offset_ = at_;
    const char* position = data_.data() + at_;
    const std::uint64_t length = protozero::decode_varint(&position, data_.data() + data_.size());
    at_ = static_cast<std::size_t>(position - data_.data());
    const std::size_t left = data_.size() - at_;
    if (length > left) {
      throw ConfigError("byte " + std::to_string(offset_),
                        "a message of " + std::to_string(length) + " bytes begins here, but " +
                            core::counted(left, "byte") + (left == 1 ? " is" : " are") + " left",
                        "is the file complete, and a Chakra trace?");
    }
    at_ += length;
    return {position, static_cast<std::size_t>(length)};
  }

 private:
  std::string_view data_;
  std::size_t at_ = 0;
  std::size_t offset_ = 0;
};

class Parser {
 public:
  /// `sample` must outlive the object; it may be empty.
  explicit Parser(const TraceParser::Sample& sample) : sample_(sample) {}

  /// The nodes in the order of the file.
  void parse_messages(std::string_view data) {
    if (data.empty()) throw ConfigError("", "is empty", "a Chakra trace begins with its metadata");
    Messages messages(data);
    try {
      parse_metadata(messages.next());
      while (!messages.done()) {
        const auto message = messages.next();
        offset_ = messages.offset();
        note_piece(static_cast<std::size_t>(message.data() - data.data()), message.size());
        if (is_known(text_of(message))) {
          copy_node();
        } else {
          parse_node(message);
        }
      }
    } catch (const protozero::exception& e) {
      throw ConfigError("byte " + std::to_string(messages.offset()),
                        std::string("the message that begins here is damaged: ") + e.what(),
                        "is the file complete, and a Chakra trace?");
    }
    note_piece(data.size(), 0);
  }

  /// Returns true when most messages were none of the sample's.
  [[nodiscard]] bool is_new() const { return 2 * known_ < trace_.nodes.size(); }
  /// Returns what was parsed, as a sample for other files. REQUIRES: before take().
  [[nodiscard]] TraceParser::Sample sample(std::string_view data) const { return {std::string(data), pieces_, trace_}; }

  /// The nodes in ascending id.
  Trace take() {
    sort_nodes();
    return std::move(trace_);
  }

 private:
  void note_piece(std::size_t begin, std::size_t size) {
    pieces_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size),
                       static_cast<std::uint32_t>(trace_.text.size()),
                       static_cast<std::uint32_t>(trace_.data_dependencies.size()),
                       static_cast<std::uint32_t>(trace_.control_dependencies.size())});
  }

  // An error of a metadata node's groups names its place in the file.
  [[nodiscard]] bool is_known(std::string_view message) const {
    const std::size_t at = trace_.nodes.size();
    if (at >= sample_.trace.nodes.size() || sample_.trace.nodes[at].type == NodeType::kMetadata) return false;
    const TraceParser::Sample::Piece& piece = sample_.pieces[at];
    return message == std::string_view(sample_.data).substr(piece.begin, piece.size);
  }

  void copy_node() {
    const std::size_t at = trace_.nodes.size();
    const TraceParser::Sample::Piece& from = sample_.pieces[at];
    const TraceParser::Sample::Piece& end = sample_.pieces[at + 1];
    const TraceParser::Sample::Piece& to = pieces_[at];
    TraceNode& node = trace_.nodes.emplace_back(sample_.trace.nodes[at]);
    if (node.name.count > 0) node.name.first = node.name.first - from.text + to.text;
    if (node.group.count > 0) node.group.first = node.group.first - from.text + to.text;
    node.data.first = to.data_dependencies;
    node.control.first = to.control_dependencies;
    trace_.text.append(sample_.trace.text, from.text, end.text - from.text);
    const auto append = [](std::vector<std::uint64_t>& into, const std::vector<std::uint64_t>& all, std::uint32_t first,
                           std::uint32_t last) { into.insert(into.end(), all.begin() + first, all.begin() + last); };
    append(trace_.data_dependencies, sample_.trace.data_dependencies, from.data_dependencies, end.data_dependencies);
    append(trace_.control_dependencies, sample_.trace.control_dependencies, from.control_dependencies,
           end.control_dependencies);
    ++known_;
  }

  [[nodiscard]] std::string place(const TraceNode& node) const {
    return trace_.describe(node) + " at byte " + std::to_string(offset_);
  }

  void parse_metadata(protozero::data_view message) {
    protozero::pbf_reader in(message);
    while (in.next()) {
      if (in.tag() == field::kVersion && in.has_wire_type(pbf_wire_type::varint)) {
        throw ConfigError("byte 0", "the first message is a node", "a Chakra trace begins with its metadata");
      }
      if (in.tag() == field::kVersion && in.has_wire_type(pbf_wire_type::length_delimited)) {
        trace_.has_version = in.get_view().size() > 0;
      } else {
        in.skip();
      }
    }
  }

  // Attributes come last: what they mean depends on the kind, and what is wrong with them is told with the id and the name,
  // and fields may come in any order.
  void parse_node(protozero::data_view message) {
    TraceNode node;
    node.data.first = static_cast<std::uint32_t>(trace_.data_dependencies.size());
    node.control.first = static_cast<std::uint32_t>(trace_.control_dependencies.size());
    std::uint64_t type = 0;
    attributes_.clear();
    protozero::pbf_reader in(message);
    while (in.next()) {
      switch (in.tag_and_type()) {
        case tag_and_type(field::kNodeId, pbf_wire_type::varint):
          node.id = in.get_uint64();
          break;
        case tag_and_type(field::kNodeName, pbf_wire_type::length_delimited):
          node.name = append_name(trace_.text, text_of(in.get_view()));
          break;
        case tag_and_type(field::kNodeKind, pbf_wire_type::varint):
          type = in.get_uint64();
          break;
        case tag_and_type(field::kControlDependencies, pbf_wire_type::length_delimited):
        case tag_and_type(field::kControlDependencies, pbf_wire_type::varint):
          add_dependencies(in, trace_.control_dependencies);
          break;
        case tag_and_type(field::kDataDependencies, pbf_wire_type::length_delimited):
        case tag_and_type(field::kDataDependencies, pbf_wire_type::varint):
          add_dependencies(in, trace_.data_dependencies);
          break;
        case tag_and_type(field::kDurationMicros, pbf_wire_type::varint):
          node.set(Number::kDurationMicros, in.get_uint64());
          break;
        case tag_and_type(field::kNodeAttribute, pbf_wire_type::length_delimited):
          attributes_.push_back(in.get_view());
          break;
        default:
          skip_field(node, in);
      }
    }
    node.data.count = static_cast<std::uint32_t>(trace_.data_dependencies.size()) - node.data.first;
    node.control.count = static_cast<std::uint32_t>(trace_.control_dependencies.size()) - node.control.first;
    finish_node(node, type);
  }

  // Fields that mean nothing here are skipped. One that does, on the wrong wire type, is no Chakra.
  void skip_field(const TraceNode& node, protozero::pbf_reader& in) const {
    const auto tag = in.tag();
    const bool means_something =
        tag <= field::kDataDependencies || tag == field::kDurationMicros || tag == field::kNodeAttribute;
    if (means_something) {
      throw ConfigError(place(node), "field " + std::to_string(tag) + " is not of the kind that Chakra gives it");
    }
    in.skip();
  }

  // Packed, as the format has it, or one by one, as any reader of the format must accept.
  static void add_dependencies(protozero::pbf_reader& in, std::vector<std::uint64_t>& to) {
    if (in.has_wire_type(pbf_wire_type::varint)) return to.push_back(in.get_uint64());
    for (const std::uint64_t id : in.get_packed_uint64()) to.push_back(id);
  }

  void finish_node(TraceNode& node, std::uint64_t type) {
    if (type == 0 || type >= kNodeTypeCount) {
      throw ConfigError(place(node), type == 0 ? "has no type" : "has the unknown type " + std::to_string(type),
                        "1 metadata, 2 memory load, 3 memory store, 4 compute, 5 send, 6 receive, 7 collective");
    }
    node.type = static_cast<NodeType>(type);
    try {
      for (const auto attribute : attributes_) use(parse_attribute(attribute), node);
    } catch (const ConfigError& e) {
      throw e.inside(place(node));
    }
    trace_.nodes.push_back(node);
  }

  void use(const Attribute& a, TraceNode& node) {
    if (a.kind == Attribute::Kind::kAbsent) return;
    if (a.name == key::kOperations) {
      node.has_operations = true;
      node.operations = a.as_amount();
    } else if (a.name == key::kOnCpu) {
      node.on_cpu = a.as_natural() != 0;
    } else if (a.name == key::kGroupName) {
      const std::string group = a.as_text();
      node.group = {};
      if (!group.empty())
        node.group = {static_cast<std::uint32_t>(trace_.text.size()), static_cast<std::uint32_t>(group.size())};
      trace_.text += group;
    } else if (a.name == key::kDimensions) {
      node.dimensions = a.as_flags();
    } else if (node.type == NodeType::kMetadata) {
      if (a.kind == Attribute::Kind::kText && a.text.starts_with('[') && a.text.find("\"pg_name\"") != a.text.npos) {
        trace_.groups.push_back({place(node) + ": attribute " + std::string(a.name), std::string(a.text)});
      }
    } else {
      for (const auto& [name, number] : kNumberNames) {
        if (a.name == name) return node.set(number, a.as_natural());
      }
    }
  }

  void sort_nodes() {
    const auto by_id = [](const TraceNode& a, const TraceNode& b) { return a.id < b.id; };
    if (!std::is_sorted(trace_.nodes.begin(), trace_.nodes.end(), by_id)) {
      std::sort(trace_.nodes.begin(), trace_.nodes.end(), by_id);
    }
    const auto twice = std::adjacent_find(trace_.nodes.begin(), trace_.nodes.end(),
                                          [](const TraceNode& a, const TraceNode& b) { return a.id == b.id; });
    if (twice != trace_.nodes.end()) {
      throw ConfigError(trace_.describe(*twice), "has the same id as " + trace_.describe(*std::next(twice)),
                        "ids must be unique in a file");
    }
  }

  const TraceParser::Sample& sample_;
  Trace trace_;
  std::vector<TraceParser::Sample::Piece> pieces_;  // one a node
  std::size_t known_ = 0;                           // nodes that are the sample's
  std::size_t offset_ = 0;                          // where the message at hand begins
  std::vector<protozero::data_view> attributes_;    // of the node at hand
};

}  // namespace

std::string Trace::describe(const TraceNode& n) const {
  constexpr std::size_t kShown = 80;
  std::string text_of_node = "node " + std::to_string(n.id);
  const std::string_view known = name(n);
  if (known.empty()) return text_of_node;
  return text_of_node + " (" + std::string(known.substr(0, kShown)) + (known.size() > kShown ? "...)" : ")");
}

Trace parse_trace(std::string_view data) {
  const TraceParser::Sample none;
  Parser parser(none);
  parser.parse_messages(data);
  return parser.take();
}

Trace TraceParser::parse(std::string_view data) {
  Parser parser(sample_);
  parser.parse_messages(data);
  if (!parser.is_new()) return parser.take();
  Sample next = parser.sample(data);
  Trace trace = parser.take();
  sample_ = std::move(next);
  return trace;
}

}  // namespace photonrail::formats::chakra
