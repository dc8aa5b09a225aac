// A plan as MSCCL XML.
#include "formats/msccl/export.hpp"
#include "formats/msccl/import.hpp"
#include "photonrail/collective/plan_file.hpp"
#include "photonrail/error.hpp"

#include <charconv>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

namespace photonrail {

namespace {

using formats::msccl::Block;
using formats::msccl::Buffer;
using formats::msccl::Gpu;
using formats::msccl::Program;
using formats::msccl::Step;

// As text at once: a document of nodes takes eight times the memory of its text, and plans have millions of steps.
void put(std::string& out, const char* name, std::string_view value) {
  out.append(" ").append(name).append("=\"").append(value).append("\"");
}

void put(std::string& out, const char* name, std::int64_t value) {
  char digits[24];
  put(out, name, {digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr});
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

const char* text_of(Buffer buffer) { return buffer == Buffer::kInput ? "i" : buffer == Buffer::kOutput ? "o" : "s"; }

void write(std::string& out, const Step& step, std::size_t index) {
  out += "      <step";
  put(out, "s", static_cast<std::int64_t>(index));
  put(out, "type", formats::msccl::name(step.type));
  put(out, "srcbuf", text_of(step.source.buffer));
  put(out, "srcoff", step.source.offset);
  put(out, "dstbuf", text_of(step.destination.buffer));
  put(out, "dstoff", step.destination.offset);
  put(out, "cnt", step.count);
  put(out, "depid", step.after_block ? std::int64_t{*step.after_block} : -1);
  put(out, "deps", step.after_block ? std::int64_t{step.after_step} : -1);
  put(out, "hasdep", step.awaited ? 1 : 0);
  out += " />\n";
}

void write(std::string& out, const Gpu& gpu, std::size_t id) {
  out += "  <gpu";
  put(out, "id", static_cast<std::int64_t>(id));
  put(out, "i_chunks", gpu.input_chunks);
  put(out, "o_chunks", gpu.output_chunks);
  put(out, "s_chunks", gpu.scratch_chunks);
  out += gpu.blocks.empty() ? " />\n" : ">\n";
  for (const Block& block : gpu.blocks) {
    out += "    <tb";
    put(out, "id", block.id);
    put(out, "send", block.send ? std::int64_t{*block.send} : -1);
    put(out, "recv", block.receive ? std::int64_t{*block.receive} : -1);
    put(out, "chan", block.channel);
    out += block.steps.empty() ? " />\n" : ">\n";
    for (std::size_t s = 0; s < block.steps.size(); ++s) write(out, block.steps[s], s);
    if (!block.steps.empty()) out += "    </tb>\n";
  }
  if (!gpu.blocks.empty()) out += "  </gpu>\n";
}

void write(Program& program, std::string_view name, std::ostream& out) {
  std::string text = "<algo";
  put(text, "name", escaped(name));
  put(text, "proto", escaped(program.protocol));
  put(text, "nchannels", program.channels);
  put(text, "nchunksperloop", program.chunks);
  put(text, "ngpus", static_cast<std::int64_t>(program.gpus.size()));
  put(text, "coll", *formats::msccl::collective_name(program.op));
  put(text, "inplace", program.in_place ? 1 : 0);
  put(text, "outofplace", program.in_place ? 0 : 1);
  if (program.root != 0) put(text, "root", program.root);
  text += ">\n";
  for (std::size_t g = 0; g < program.gpus.size(); ++g) {
    write(text, program.gpus[g], g);
    out << text;
    text.clear();
    program.gpus[g] = {};  // the file may be larger than the memory
  }
  out << "</algo>\n";
}

}  // namespace

std::function<void(std::ostream&)> msccl_writer(const CollectiveCall& call, const SendPlan& plan, std::string_view name) {
  auto program = std::make_shared<Program>(formats::msccl::to_program(call, plan));
  // Errors that a reader of the file would find must be found here first.
  formats::msccl::prove(*program);
  return [program, called = std::string(name)](std::ostream& out) { write(*program, called, out); };
}

std::string msccl_xml(const CollectiveCall& call, const SendPlan& plan, std::string_view name) {
  std::ostringstream out;
  msccl_writer(call, plan, name)(out);
  return std::move(out).str();
}

}  // namespace photonrail
