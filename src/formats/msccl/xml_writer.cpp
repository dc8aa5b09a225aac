// A plan as MSCCL XML.
#include "formats/msccl/export.hpp"
#include "formats/msccl/import.hpp"
#include "photonrail/collective/plan_file.hpp"
#include "photonrail/error.hpp"

#include <pugixml.hpp>

#include <sstream>

namespace photonrail {

namespace {

using formats::msccl::Block;
using formats::msccl::Buffer;
using formats::msccl::Gpu;
using formats::msccl::Program;
using formats::msccl::Step;

template <class Value>
void put(pugi::xml_node node, const char* name, Value value) {
  node.append_attribute(name).set_value(value);
}

const char* text_of(Buffer buffer) { return buffer == Buffer::kInput ? "i" : buffer == Buffer::kOutput ? "o" : "s"; }

void write(pugi::xml_node node, const Step& step, std::size_t index) {
  put(node, "s", static_cast<unsigned>(index));
  put(node, "type", std::string(formats::msccl::name(step.type)).c_str());
  put(node, "srcbuf", text_of(step.source.buffer));
  put(node, "srcoff", step.source.offset);
  put(node, "dstbuf", text_of(step.destination.buffer));
  put(node, "dstoff", step.destination.offset);
  put(node, "cnt", step.count);
  put(node, "depid", step.after_block ? static_cast<int>(*step.after_block) : -1);
  put(node, "deps", step.after_block ? static_cast<int>(step.after_step) : -1);
  put(node, "hasdep", step.awaited ? 1 : 0);
}

void write(pugi::xml_node node, const Gpu& gpu, std::size_t id) {
  put(node, "id", static_cast<unsigned>(id));
  put(node, "i_chunks", gpu.input_chunks);
  put(node, "o_chunks", gpu.output_chunks);
  put(node, "s_chunks", gpu.scratch_chunks);
  for (const Block& block : gpu.blocks) {
    pugi::xml_node tb = node.append_child("tb");
    put(tb, "id", block.id);
    put(tb, "send", block.send ? static_cast<int>(*block.send) : -1);
    put(tb, "recv", block.receive ? static_cast<int>(*block.receive) : -1);
    put(tb, "chan", block.channel);
    for (std::size_t s = 0; s < block.steps.size(); ++s) write(tb.append_child("step"), block.steps[s], s);
  }
}

}  // namespace

std::string msccl_xml(const CollectiveCall& call, const SendPlan& plan, std::string_view name) {
  const Program program = formats::msccl::to_program(call, plan);
  // Errors that a reader of the file would find must be found here first.
  static_cast<void>(formats::msccl::import(program));
  pugi::xml_document document;
  pugi::xml_node algo = document.append_child("algo");
  put(algo, "name", std::string(name).c_str());
  put(algo, "proto", program.protocol.c_str());
  put(algo, "nchannels", program.channels);
  put(algo, "nchunksperloop", program.chunks);
  put(algo, "ngpus", static_cast<unsigned>(program.gpus.size()));
  put(algo, "coll", std::string(*formats::msccl::collective_name(program.op)).c_str());
  put(algo, "inplace", program.in_place ? 1 : 0);
  put(algo, "outofplace", program.in_place ? 0 : 1);
  if (program.root != 0) put(algo, "root", program.root);
  for (std::size_t g = 0; g < program.gpus.size(); ++g) write(algo.append_child("gpu"), program.gpus[g], g);
  std::ostringstream out;
  document.save(out, "  ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

}  // namespace photonrail
