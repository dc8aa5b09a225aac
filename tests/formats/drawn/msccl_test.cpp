// Drawn MSCCL programs: written in the dialects of their tools, read back step by step, and proven to send what they send.
#include "formats/drawn/msccl_truth.hpp"
#include "formats/msccl/xml_reader.hpp"
#include "support/folder.hpp"

namespace photonrail::test::drawn {
namespace {

using formats::msccl::Program;

int input_chunks(const MscclTruth& truth, const GpuTruth& gpu) {
  const int all = truth.coll == "allgather" ? truth.chunks / static_cast<int>(truth.gpus.size()) : truth.chunks;
  return gpu.says_input ? all : 0;
}
int output_chunks(const MscclTruth& truth, const GpuTruth& gpu) {
  const int all = truth.coll == "reduce_scatter" ? truth.chunks / static_cast<int>(truth.gpus.size()) : truth.chunks;
  return gpu.says_output ? all : 0;
}

class XmlWriter {
 public:
  XmlWriter(Draw& style, Cover& cover)
      : style_(style), cover_(cover), dialect_(style.one_in(3)), indent_(style.one_in(2)), more_(style.one_in(2)) {}

  std::string of(const MscclTruth& truth) {
    Attributes root{{"coll", truth.coll}, {"ngpus", number(truth.gpus.size())}, {"nchunksperloop", number(truth.chunks)}};
    put_unless(root, "name", truth.name, "unnamed");
    put_unless(root, "nchannels", number(truth.channels), "1");
    put_unless(root, "inplace", truth.in_place ? "1" : "0", "1");
    put_unless(root, "root", number(truth.root), "0");
    if (style_.one_in(2)) root.emplace_back("proto", "Simple");
    if (more_) root.insert(root.end(), {{"redop", "nop"}, {"minBytes", "0"}, {"maxBytes", "1048576"}});
    std::vector<std::string> gpus;
    for (std::size_t g = 0; g < truth.gpus.size(); ++g) gpus.push_back(gpu(truth, static_cast<int>(g)));
    if (style_.one_in(2)) style_.shuffle(gpus);
    cover_.add(truth.coll);
    const std::string declaration = style_.one_in(3) ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" : "";
    return maybe_crlf(
        style_, declaration + (style_.one_in(3) ? "<!-- <gpu id=\"9\"/> -->\n" : "") + element("algo", root, gpus, 0));
  }

 private:
  using Attributes = std::vector<std::pair<std::string, std::string>>;

  static std::string number(std::size_t n) { return std::to_string(n); }
  static std::string number(int n) { return std::to_string(n); }

  void put_unless(Attributes& to, const std::string& key, const std::string& value, const std::string& usual) {
    if (value != usual || style_.one_in(2)) to.emplace_back(key, value);
  }

  std::string escaped(const std::string& value, char quote) {
    std::string out;
    for (const char c : value) {
      if (c == '&' || c == '<')
        out += c == '&' ? "&amp;" : "&lt;";
      else if (c == quote)
        out += quote == '"' ? "&quot;" : "&apos;";
      else if (c == '0' && style_.one_in(8))
        out += "&#48;";
      else
        out += c;
    }
    return out;
  }

  std::string element(const std::string& name, Attributes attributes, const std::vector<std::string>& children, int level) {
    const std::string indent = indent_ ? std::string(static_cast<std::size_t>(level) * 2, ' ') : "";
    if (style_.one_in(2)) style_.shuffle(attributes);
    std::string out = indent + "<" + name;
    for (const auto& [key, value] : attributes) {
      cover_.add(key);
      const char quote = style_.one_in(4) ? '\'' : '"';
      out += style_.pick<std::string>({" ", " ", "\n  "}) + key + "=" + quote + escaped(value, quote) + quote;
    }
    if (children.empty() && style_.one_in(2)) return out + "/>\n";
    out += ">\n";
    for (const std::string& child : children) out += child;
    if (more_ && style_.one_in(8)) out += "<!-- a remark -->";
    return out + indent + "</" + name + ">\n";
  }

  std::string gpu(const MscclTruth& truth, int id) {
    const GpuTruth& gpu = truth.gpus[static_cast<std::size_t>(id)];
    Attributes attributes{{"id", number(id)}};
    put_unless(attributes, "i_chunks", number(input_chunks(truth, gpu)), "0");
    put_unless(attributes, "o_chunks", number(output_chunks(truth, gpu)), "0");
    put_unless(attributes, "s_chunks", number(gpu.scratch), "0");
    std::vector<std::string> children;
    for (const TbTruth& tb : gpu.blocks) {
      std::vector<std::string> steps;
      for (std::size_t s = 0; s < tb.steps.size(); ++s) steps.push_back(step(tb.steps[s], s));
      Attributes of_block{{"id", number(tb.id)}};
      put_unless(of_block, "send", number(tb.send), "-1");
      put_unless(of_block, "recv", number(tb.receive), "-1");
      put_unless(of_block, "chan", number(tb.channel), "0");
      children.push_back(element("tb", of_block, steps, 2));
    }
    for (const auto& [from, to] : gpu.copies)
      children.push_back(element("copy", {{"i_off", number(from)}, {"o_off", number(to)}}, {}, 2));
    if (style_.one_in(2)) style_.shuffle(children);
    return element("gpu", attributes, children, 1);
  }

  std::string step(const StepTruth& step, std::size_t index) {
    cover_.add(step.type);
    Attributes attributes{{dialect_ ? "step" : "s", number(index)}, {"type", step.type}};
    if (step.type != "nop") {
      attributes.emplace_back("cnt", number(step.count));
      const bool one_place = step.source_offset < 0 || step.destination_offset < 0 ||
                             (step.source == step.destination && step.source_offset == step.destination_offset);
      if (dialect_ && one_place) {
        put_place(attributes, "buf", "off", step.source_offset < 0 ? step.destination : step.source,
                  std::max(step.source_offset, step.destination_offset));
      } else {
        put_place(attributes, "srcbuf", "srcoff", step.source, step.source_offset);
        put_place(attributes, "dstbuf", "dstoff", step.destination, step.destination_offset);
      }
    }
    if (step.after_block >= 0 || style_.one_in(2)) {
      attributes.emplace_back("depid", number(step.after_block));
      attributes.emplace_back("deps", number(step.after_step));
    }
    put_unless(attributes, "hasdep", step.awaited ? "1" : "0", "0");
    return element(dialect_ && style_.one_in(2) ? "op" : "step", attributes, {}, 3);
  }

  /// What a step has not is -1, or something that means nothing.
  void put_place(Attributes& to, const char* buffer, const char* offset, char at, int value) {
    cover_.add(std::string(1, at));
    to.emplace_back(buffer, std::string(1, at));
    to.emplace_back(offset, number(value < 0 && style_.one_in(2) ? static_cast<int>(style_.below(9)) : value));
  }

  Draw& style_;
  Cover& cover_;
  bool dialect_, indent_, more_;
};

void compare_place(const std::string& what, char buffer, int offset, const formats::msccl::Place& read,
                   Differences& found) {
  if (offset < 0) return;  // the step has none
  found.compare(what + " buffer", std::string("ios").find(buffer), static_cast<std::size_t>(read.buffer));
  found.compare(what + " offset", static_cast<std::uint32_t>(offset), read.offset);
}

void compare_step(const std::string& what, const StepTruth& truth, const formats::msccl::Step& read, Differences& found) {
  found.compare(what + " type", truth.type, std::string(name(read.type)));
  found.compare(what + " waits", truth.after_block, read.after_block ? static_cast<int>(*read.after_block) : -1);
  if (truth.after_block >= 0)
    found.compare(what + " waits for step", static_cast<std::uint32_t>(truth.after_step), read.after_step);
  found.compare(what + " hasdep", truth.awaited, read.awaited);
  if (truth.type == "nop") return;
  found.compare(what + " cnt", static_cast<std::uint32_t>(truth.count), read.count);
  compare_place(what + " source", truth.source, truth.source_offset, read.source, found);
  compare_place(what + " destination", truth.destination, truth.destination_offset, read.destination, found);
}

void compare_program(const MscclTruth& truth, const Program& read, Differences& found) {
  found.compare("name", truth.name, read.name);
  found.compare("protocol", std::string("Simple"), read.protocol);
  found.compare("operation", static_cast<int>(truth.op), static_cast<int>(read.op));
  found.compare("chunks", static_cast<std::uint32_t>(truth.chunks), read.chunks);
  found.compare("channels", static_cast<std::uint32_t>(truth.channels), read.channels);
  found.compare("in place", truth.in_place, read.in_place);
  found.compare("root", static_cast<Member>(truth.root), read.root);
  found.compare("GPUs", truth.gpus.size(), read.gpus.size());
  for (std::size_t g = 0; g < std::min(truth.gpus.size(), read.gpus.size()); ++g) {
    const std::string of_gpu = "GPU " + std::to_string(g);
    std::set<std::pair<int, int>> copies;
    for (const auto& copy : read.gpus[g].copies) copies.emplace(copy.input, copy.output);
    found.compare(of_gpu + " copies",
                  std::set<std::pair<int, int>>(truth.gpus[g].copies.begin(), truth.gpus[g].copies.end()), copies);
    found.compare(of_gpu + " input", input_chunks(truth, truth.gpus[g]), static_cast<int>(read.gpus[g].input_chunks));
    found.compare(of_gpu + " output", output_chunks(truth, truth.gpus[g]), static_cast<int>(read.gpus[g].output_chunks));
    found.compare(of_gpu + " scratch", static_cast<std::uint32_t>(truth.gpus[g].scratch), read.gpus[g].scratch_chunks);
    found.compare(of_gpu + " blocks", truth.gpus[g].blocks.size(), read.gpus[g].blocks.size());
    for (const TbTruth& tb : truth.gpus[g].blocks) {
      const auto& blocks = read.gpus[g].blocks;
      const auto at =
          std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return static_cast<int>(b.id) == tb.id; });
      const std::string what = of_gpu + " block " + std::to_string(tb.id);
      if (at == blocks.end()) {
        found.add(what + " is not there");
        continue;
      }
      found.compare(what + " send", tb.send, at->send ? static_cast<int>(*at->send) : -1);
      found.compare(what + " recv", tb.receive, at->receive ? static_cast<int>(*at->receive) : -1);
      found.compare(what + " chan", static_cast<std::uint32_t>(tb.channel), at->channel);
      found.compare(what + " steps", tb.steps.size(), at->steps.size());
      for (std::size_t s = 0; s < std::min(tb.steps.size(), at->steps.size()); ++s)
        compare_step(what + " step " + std::to_string(s), tb.steps[s], at->steps[s], found);
    }
  }
}

// By a ring each step carries a share of the data over ports of 50 GiB/s that are held for 0.5 us besides.
void compare_time(const MscclTruth& truth, const CollectiveFile& file, Differences& found) {
  if (truth.ring_steps == 0) return;
  constexpr std::uint64_t kShare = 3 << 17;
  const double step_us = 0.5 + static_cast<double>(kShare) / (50.0 * 1073741824.0) * 1e6;
  found.near("time of the ring", static_cast<double>(truth.ring_steps) * step_us,
             alone_us(file, static_cast<std::int64_t>(kShare * truth.shares)), 1e-6);
}

Differences read_drawn_msccl(std::uint64_t seed, const MscclTruth& written, const MscclTruth& truth, Cover& cover) {
  Draw style(seed, "msccl/style");
  const std::string xml = XmlWriter(style, cover).of(written);
  Differences found;
  compare_program(truth, formats::msccl::parse_program(xml), found);
  const Folder folder;
  const CollectiveFile file = read_msccl(folder.write("plan.xml", maybe_gzip(style, xml)));
  found.compare("operation", static_cast<int>(truth.op), static_cast<int>(file.op));
  found.compare("members", truth.gpus.size(), std::size_t{file.members});
  found.compare("root", static_cast<Member>(truth.root), file.root);
  // As many bytes as chunks of the whole: a share of an all-gather has those of one member.
  const bool gathers = truth.op == CollectiveOp::kAllGather;
  const std::int64_t bytes = 1000 * (gathers ? truth.chunks / static_cast<int>(truth.gpus.size()) : truth.chunks);
  const CollectiveCall call = call_of(file, bytes);
  const auto plan = file.algorithm->expand(call);
  found.compare("sends", truth.sends, sent_by(*plan));
  std::int64_t sent = 0;
  for (const Sent& one : truth.sends) sent += 1000 * std::get<3>(one);
  found.compare("bytes", sent, plan->wire_bytes().count);
  const auto report = testing::replay(call, *plan, {.order = testing::ArrivalOrder::kRandom, .seed = seed});
  if (!report.correct) found.add("the replay is wrong: " + report.problem);
  if (seed % 4 == 0) compare_time(truth, file, found);
  return found;
}

TEST(DrawnMsccl, ProgramsAreReadAsTheyWereWritten) {
  Cover cover;
  expect_read_as_written(300, [&](std::uint64_t seed) {
    const MscclTruth truth = MscclDrawer(seed).draw();
    return read_drawn_msccl(seed, truth, truth, cover);
  });
  std::set<std::string> known = words_in(
      {"src/formats/msccl/xml_reader.cpp"},
      {R"rx((?:count|unless_none|buffer|offset)\(\w+, "(\w+)")rx", R"rx(find\(\w+, \{"(\w+)")rx", R"rx(\{name, "(\w+)")rx",
       R"rx(\{"\w+", "(\w+)"\})rx", R"rx(attribute\("(\w+)"\))rx", R"rx(text == "([ios])")rx"});
  known.merge(words_in({"src/formats/msccl/program.cpp"}, {R"rx("([a-z_]+)")rx"}));
  cover.expect_all(known, {});
}

/// A step that waits for one of another block; any where none does.
StepTruth& waiting_step(MscclTruth& truth) {
  for (GpuTruth& gpu : truth.gpus) {
    for (TbTruth& tb : gpu.blocks) {
      for (StepTruth& step : tb.steps) {
        if (step.after_block >= 0) return step;
      }
    }
  }
  return truth.gpus.front().blocks.front().steps.front();
}

TEST(DrawnMsccl, AnotherValueIsNoticed) {
  Cover cover;
  const std::set<std::string> names{"offset", "peer", "count", "type", "channel", "dependency", "chunks", "root"};
  expect_changes_noticed(300, names, [&](std::uint64_t seed, std::string& name) {
    Draw draw(seed, "msccl/planted");
    const MscclTruth truth = MscclDrawer(seed).draw();
    MscclTruth other = truth;
    const auto choice = draw.pick(std::vector<std::string>(names.begin(), names.end()));
    TbTruth& tb = other.gpus[draw.below(other.gpus.size())].blocks.front();
    StepTruth& step = choice == "dependency" ? waiting_step(other) : tb.steps.back();
    if (choice == "offset" && step.destination_offset < 0) return true;
    if (choice == "offset") step.destination_offset += step.destination_offset > 0 ? -1 : 1;
    if (choice == "peer" && (other.gpus.size() < 3 || tb.send < 0)) return true;
    if (choice == "peer") tb.send = (tb.send + 1) % static_cast<int>(other.gpus.size());
    if (choice == "count") step.count += 1;
    if (choice == "type" && step.type != "rrc") return true;
    if (choice == "type") step.type = "r";
    if (choice == "channel") tb.channel += 1;
    if (choice == "dependency" && step.after_block < 0) return true;
    if (choice == "dependency") step.after_block = step.after_step = -1;
    if (choice == "chunks") other.chunks *= 2;
    if (choice == "root" && truth.coll != "reduce" && truth.coll != "broadcast") return true;
    if (choice == "root") other.root = (other.root + 1) % static_cast<int>(other.gpus.size());
    name = choice;
    try {
      return !read_drawn_msccl(seed, other, truth, cover).none();
    } catch (const ConfigError&) {
      return true;
    }
  });
}

}  // namespace
}  // namespace photonrail::test::drawn
