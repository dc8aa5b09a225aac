// MSCCL XML into the program that it stands for.
#include "formats/msccl/xml_reader.hpp"
#include "core/counted.hpp"
#include "core/inside.hpp"
#include "core/number_in.hpp"
#include "formats/input_file.hpp"
#include "formats/msccl/import.hpp"
#include "photonrail/collective/plan_file.hpp"
#include "photonrail/error.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <set>

namespace photonrail {

using collective::ListedPlan;
using collective::make_listed;

namespace {

using formats::msccl::Block;
using formats::msccl::Buffer;
using formats::msccl::Gpu;
using formats::msccl::Program;
using formats::msccl::Step;
using formats::msccl::StepType;

constexpr std::int64_t kMaxGpus = 65536;
constexpr std::int64_t kMaxChunks = 1 << 24;
constexpr std::int64_t kMaxChannels = 65536;
constexpr std::int64_t kMaxBlocks = 1 << 24;

class Parser {
 public:
  explicit Parser(std::string_view xml) {
    for (std::size_t i = 0; i < xml.size(); ++i) {
      if (xml[i] == '\n') newlines_.push_back(i);
    }
    const pugi::xml_parse_result parsed = document_.load_buffer(xml.data(), xml.size());
    if (!parsed) fail(line(parsed.offset), std::string("not XML: ") + parsed.description());
  }

  Program parse() {
    const pugi::xml_node root = document_.child("algo");
    if (!root) fail(1, "has no <algo>", "an MSCCL algorithm begins with <algo name=... ngpus=...>");
    Program program;
    program.name = root.attribute("name").as_string("unnamed");
    program.protocol = root.attribute("proto").as_string("Simple");
    program.op = collective(root);
    program.chunks = count(root, "nchunksperloop", 1, kMaxChunks);
    program.channels = optional_count(root, "nchannels", 1, kMaxChannels, 1);
    program.in_place = optional_count(root, "inplace", 0, 1, 1) != 0;
    program.root = optional_count(root, "root", 0, kMaxGpus - 1, 0);
    const std::uint32_t gpus = count(root, "ngpus", 2, kMaxGpus);
    read_gpus(root, gpus, program);
    return program;
  }

 private:
  [[noreturn]] static void fail(std::uint64_t line, const std::string& what, const std::string& hint = {}) {
    throw ConfigError(formats::msccl::place_of(line), what, hint);
  }

  [[nodiscard]] std::uint64_t line(std::ptrdiff_t offset) const {
    const auto at =
        std::lower_bound(newlines_.begin(), newlines_.end(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
    return static_cast<std::uint64_t>(at - newlines_.begin()) + 1;
  }
  [[nodiscard]] std::uint64_t line(const pugi::xml_node& node) const { return line(node.offset_debug()); }

  [[nodiscard]] std::int64_t integer(const pugi::xml_node& node, const pugi::xml_attribute& attribute, std::int64_t least,
                                     std::int64_t most) const {
    const std::string_view text = attribute.value();
    const auto value = core::number_in<std::int64_t>(text);
    if (value && *value >= least && *value <= most) return *value;
    fail(line(node), std::string(attribute.name()) + " is \"" + std::string(text.substr(0, 40)) + "\"",
         "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }

  // The attribute of the first name that is there.
  [[nodiscard]] pugi::xml_attribute find(const pugi::xml_node& node, std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (const pugi::xml_attribute attribute = node.attribute(name)) return attribute;
    }
    fail(line(node), "<" + std::string(node.name()) + "> has no " + *names.begin());
  }

  [[nodiscard]] std::uint32_t count(const pugi::xml_node& node, const char* name, std::int64_t least,
                                    std::int64_t most) const {
    return static_cast<std::uint32_t>(integer(node, find(node, {name}), least, most));
  }
  [[nodiscard]] std::uint32_t optional_count(const pugi::xml_node& node, const char* name, std::int64_t least,
                                             std::int64_t most, std::uint32_t otherwise) const {
    const pugi::xml_attribute attribute = node.attribute(name);
    return attribute ? static_cast<std::uint32_t>(integer(node, attribute, least, most)) : otherwise;
  }
  /// -1 stands for none.
  [[nodiscard]] std::optional<std::uint32_t> unless_none(const pugi::xml_node& node, const char* name,
                                                         std::int64_t most) const {
    const pugi::xml_attribute attribute = node.attribute(name);
    const std::int64_t value = attribute ? integer(node, attribute, -1, most) : -1;
    return value < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(value));
  }

  [[nodiscard]] CollectiveOp collective(const pugi::xml_node& root) const {
    const std::string name = find(root, {"coll"}).value();
    if (const auto op = formats::msccl::collective_from(name)) return *op;
    fail(line(root), "unknown coll \"" + name + "\"",
         name == "custom" ? "nothing says what a custom collective promises, so that it cannot be checked"
                          : "allreduce, allgather, reduce_scatter, alltoall, broadcast, reduce");
  }

  void read_gpus(const pugi::xml_node& root, std::uint32_t gpus, Program& program) const {
    std::vector<bool> seen(gpus);
    program.gpus.resize(gpus);
    for (const pugi::xml_node node : root.children()) {
      if (node.type() != pugi::node_element) continue;
      if (std::string_view(node.name()) != "gpu") fail(line(node), "unknown element <" + std::string(node.name()) + ">");
      const std::uint32_t id = count(node, "id", 0, static_cast<std::int64_t>(gpus) - 1);
      if (seen[id]) fail(line(node), "GPU " + std::to_string(id) + " is there twice");
      seen[id] = true;
      program.gpus[id] = gpu(node);
    }
    const auto missing = std::find(seen.begin(), seen.end(), false);
    if (missing == seen.end()) return;
    fail(line(root),
         "ngpus is " + std::to_string(gpus) + ", but GPU " + std::to_string(missing - seen.begin()) + " is missing");
  }

  [[nodiscard]] Gpu gpu(const pugi::xml_node& node) const {
    Gpu gpu;
    gpu.line = line(node);
    gpu.input_chunks = optional_count(node, "i_chunks", 0, kMaxChunks, 0);
    gpu.output_chunks = optional_count(node, "o_chunks", 0, kMaxChunks, 0);
    gpu.scratch_chunks = optional_count(node, "s_chunks", 0, kMaxChunks, 0);
    for (const pugi::xml_node child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      const std::string_view name = child.name();
      if (name == "tb") {
        gpu.blocks.push_back(block(child));
      } else if (name == "copy") {
        gpu.copies.push_back({count(child, "i_off", 0, kMaxChunks), count(child, "o_off", 0, kMaxChunks), line(child)});
      } else {
        fail(line(child), "unknown element <" + std::string(name) + ">");
      }
    }
    return gpu;
  }

  [[nodiscard]] Block block(const pugi::xml_node& node) const {
    Block block;
    block.line = line(node);
    block.id = count(node, "id", 0, kMaxBlocks);
    block.send = unless_none(node, "send", kMaxGpus);
    block.receive = unless_none(node, "recv", kMaxGpus);
    block.channel = optional_count(node, "chan", 0, kMaxChannels, 0);
    for (const pugi::xml_node child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      const std::string_view name = child.name();
      if (name != "step" && name != "op") fail(line(child), "unknown element <" + std::string(name) + ">");
      const auto index = integer(child, find(child, {"s", "step"}), 0, kMaxBlocks);
      if (static_cast<std::size_t>(index) != block.steps.size()) {
        fail(line(child),
             "step " + std::to_string(index) + " stands where step " + std::to_string(block.steps.size()) + " should",
             "steps are numbered from 0 in the order in which they run");
      }
      block.steps.push_back(step(child));
    }
    return block;
  }

  [[nodiscard]] Step step(const pugi::xml_node& node) const {
    Step step;
    step.line = line(node);
    const std::string type = find(node, {"type"}).value();
    const auto known = formats::msccl::step_type_from(type);
    if (!known) fail(step.line, "unknown step type \"" + type + "\"", "s, r, rcs, rrs, rrc, rrcs, cpy, re, nop");
    step.type = *known;
    if (step.type != StepType::kNop) {
      const bool reads = step.type != StepType::kReceive && step.type != StepType::kReceiveCopySend;
      const bool writes = step.type != StepType::kSend && step.type != StepType::kReceiveReduceSend;
      step.source = {buffer(node, "srcbuf"), offset(node, "srcoff", reads)};
      step.destination = {buffer(node, "dstbuf"), offset(node, "dstoff", writes)};
      step.count = static_cast<std::uint32_t>(integer(node, find(node, {"cnt"}), 0, kMaxChunks));
    }
    step.after_block = unless_none(node, "depid", kMaxBlocks);
    if (step.after_block) {
      const auto after = unless_none(node, "deps", kMaxBlocks);
      if (!after) fail(step.line, "depid without deps", "the step of that thread block");
      step.after_step = *after;
    }
    step.awaited = optional_count(node, "hasdep", 0, 1, 0) != 0;
    return step;
  }

  // Another dialect of TACCL has one buffer a step.
  [[nodiscard]] Buffer buffer(const pugi::xml_node& node, const char* name) const {
    const std::string_view text = find(node, {name, "buf"}).value();
    if (text == "i") return Buffer::kInput;
    if (text == "o") return Buffer::kOutput;
    if (text == "s") return Buffer::kScratch;
    fail(line(node), std::string(name) + " is \"" + std::string(text.substr(0, 40)) + "\"", "i, o or s");
  }
  /// -1, for none, only where the step does not use the place: a receive has no source, a send no destination.
  [[nodiscard]] std::uint32_t offset(const pugi::xml_node& node, const char* name, bool is_used) const {
    const auto value = integer(node, find(node, {name, "off"}), is_used ? 0 : -1, kMaxChunks);
    return static_cast<std::uint32_t>(std::max<std::int64_t>(value, 0));
  }

  pugi::xml_document document_;
  std::vector<std::size_t> newlines_;
};

}  // namespace

formats::msccl::Program formats::msccl::parse_program(std::string_view xml) { return Parser(xml).parse(); }

CollectiveFile parse_msccl(std::string_view xml, std::string_view name) {
  return core::inside(name, [&]() -> CollectiveFile {
    const Program program = formats::msccl::parse_program(xml);
    const auto gpus = static_cast<Member>(program.gpus.size());
    ListedPlan plan = formats::msccl::import(program);
    std::string summary = program.name + ": " + std::string(photonrail::name(program.op)) + " of " +
                          core::counted(gpus, "member") + " in " + core::counted(program.chunks, "chunk");
    return {make_listed(std::string(name), std::move(summary), std::move(plan)), program.op, gpus, program.root};
  });
}

CollectiveFile read_msccl(const std::filesystem::path& file) {
  return parse_msccl(formats::read_file(file), file.string());
}

}  // namespace photonrail
