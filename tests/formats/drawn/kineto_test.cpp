// Drawn Kineto traces, written as PyTorch's profiler and tools behind it write them.
#include "formats/drawn/kineto_truth.hpp"
#include "formats/drawn/tree.hpp"
#include "photonrail/formats/trace.hpp"
#include "support/folder.hpp"

namespace photonrail::test::drawn {
namespace {

// ---- writing

/// Nanoseconds as a number of microseconds.
std::string micros_text(Draw& style, Ns ns) {
  const bool whole = ns % 1000 == 0;
  std::string digits = std::to_string(ns);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  std::string exact = digits.substr(0, digits.size() - 3) + "." + digits.substr(digits.size() - 3);
  switch (style.below(5)) {
    case 0:
      return exact + "00";
    case 1:
      while (exact.ends_with('0')) exact.pop_back();
      return exact.ends_with('.') ? exact + "0" : exact;
    case 2:
      return whole ? digits.substr(0, digits.size() - 3) : exact;
    case 3: {  // all digits behind an exponent
      std::string mantissa = std::to_string(ns);
      const std::size_t exponent = mantissa.size() - 1;
      if (mantissa.size() > 1) mantissa.insert(1, ".");
      const int power = static_cast<int>(exponent) - 3;
      return mantissa + style.pick<std::string>({"e", "E"}) + (power < 0 ? "-" : style.pick<std::string>({"", "+"})) +
             std::to_string(std::abs(power));
    }
    default:
      return exact;
  }
}

/// How a file says things of a group and of calls; the same throughout, as a version of PyTorch does.
class KinetoWriter {
 public:
  KinetoWriter(std::uint64_t seed, const KinetoTruth& truth, Cover& cover)
      : style_(seed, "kineto/style"), truth_(truth), cover_(cover), json_(style_) {
    for (const CallTruth& call : truth.calls) spelled_.push_back(style_.pick(spellings(call.op)));
    for (const GroupTruth& group : truth.groups) {
      const bool called = std::any_of(truth.calls.begin(), truth.calls.end(), [&](const CallTruth& c) {
        return &truth.groups[c.group] == &group && c.op == CollectiveOp::kSend;
      });
      // Without a full list all that use a group are its members; a send is used by two.
      const auto namesakes = std::count_if(truth.groups.begin(), truth.groups.end(),
                                           [&](const GroupTruth& other) { return other.name == group.name; });
      const bool must_list = (called && group.members.size() < truth.ranks.size()) || namesakes > 1;
      list_forms_.push_back(must_list ? style_.below(2) : style_.below(4));
    }
  }

  [[nodiscard]] const std::vector<std::string>& spelled() const { return spelled_; }
  [[nodiscard]] std::string receive_name(std::size_t call) const {
    return receive_names_.contains(call) ? receive_names_.at(call) : spelled_[call];
  }

  std::filesystem::path write(const Folder& folder, KinetoOptions& options) {
    const auto form = style_.below(4);
    const bool bare = form < 2 && style_.one_in(5);  // a list of events and nothing else
    const bool packed = style_.one_in(3);
    for (std::uint32_t r = 0; r < truth_.ranks.size(); ++r) {
      const std::string number = std::to_string(r);
      std::string name = "rank" + number + "_trace.json";
      if (form == 2) name = "host_" + std::string(1, static_cast<char>('z' - static_cast<char>(r))) + ".1719.pt.trace.json";
      if (form == 3) name = "kineto " + number + ".json";
      const std::string text = file_of(r, bare, form == 2);
      folder.write(name + (packed ? ".gz" : ""), packed ? gzip_member(text, 6) : text);
    }
    options.iteration = truth_.iteration;
    options.files = folder.path();
    if (form == 3) options.files /= std::string("kineto *.json") + (packed ? ".gz" : "");
    return options.files;
  }

 private:
  static std::vector<std::string> spellings(CollectiveOp op) {
    switch (op) {
      case CollectiveOp::kAllReduce:
        return {"allreduce", "all_reduce", "allreduce_coalesced"};
      case CollectiveOp::kAllGather:
        return {"allgather", "_allgather_base", "all_gather_into_tensor_coalesced", "allgather_into_tensor"};
      case CollectiveOp::kReduceScatter:
        return {"reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced"};
      case CollectiveOp::kAllToAll:
        return {"all_to_all", "all_to_allv", "alltoall_base", "all_to_all_single"};
      case CollectiveOp::kBroadcast:
        return {"broadcast", "_broadcast_oop"};
      case CollectiveOp::kReduce:
        return {"reduce", "_reduce_oop"};
      case CollectiveOp::kGather:
        return {"gather"};
      case CollectiveOp::kScatter:
        return {"scatter"};
      case CollectiveOp::kBarrier:
        return {"barrier"};
      default:
        return {"send", "Send"};
    }
  }

  Tree number_or_text(std::uint64_t value) {
    if (style_.one_in(5)) return text(std::to_string(value));
    return plain(style_.one_in(4) ? number_text(style_, static_cast<double>(value)) : std::to_string(value));
  }

  Tree group_ranks(const GroupTruth& group, std::size_t form) {
    std::vector<Tree> elements;
    std::string words = "[";
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      elements.push_back(plain(std::uint64_t{group.members[i]}));
      words += (i > 0 ? ", " : "") + (form == 2 && i > 0 ? std::string("...") : std::to_string(group.members[i]));
      if (form == 2 && i > 0) break;
    }
    if (form == 2 && group.members.size() == 1) words += ", ...";
    return form == 0 && style_.one_in(3) ? list(elements) : text(words + "]");
  }

  /// The arguments of a call as one of its members has them.
  Tree call_arguments(std::size_t c, std::uint32_t rank) {
    const CallTruth& call = truth_.calls[c];
    const GroupTruth& group = truth_.groups[call.group];
    const bool hears = call.op == CollectiveOp::kSend && rank != group.members[call.from];
    if (!hears) cover_.add(std::regex_replace(spelled_[c], std::regex("_|base|oop|single|tensor|into|coalesced"), ""));
    const std::uint64_t members = group.members.size();
    const bool sends = call.op == CollectiveOp::kSend && rank == group.members[call.from];
    const bool receives = call.op == CollectiveOp::kSend && !sends;
    if (receives && !receive_names_.contains(c)) receive_names_[c] = style_.pick<std::string>({"recv", "receive"});
    if (receives) cover_.add(receive_names_.at(c));
    Tree args =
        map({{"Collective name", text(receives ? receive_names_.at(c) : spelled_[c])}, {"dtype", text(truth_.dtype)}});
    const std::uint64_t other = style_.magnitude(1'000'000);  // what the size does not follow from
    const bool by_output = receives || call.op == CollectiveOp::kScatter;
    args.set("In msg nelems", number_or_text(by_output ? other : call.elements));
    args.set("Out msg nelems", number_or_text(by_output ? call.elements : other));
    if (call.op == CollectiveOp::kAllToAll && style_.one_in(2)) args.set("In split size", text("[5, 5]"));
    const std::size_t form = list_forms_[call.group];
    if (form == 3 || style_.one_in(2)) args.set("Group size", number_or_text(members));
    const std::string quote = style_.one_in(4) ? "\"" : "";
    const bool digits = group.name.find_first_not_of("0123456789") == std::string::npos;
    args.set("Process Group Name", digits && style_.one_in(3) ? plain(group.name) : text(quote + group.name + quote));
    if (form != 3) args.set("Process Group Ranks", group_ranks(group, form));
    if (!group.description.empty()) args.set("Process Group Description", text(group.description));
    if (call.op == CollectiveOp::kSend) {
      const bool said = members > 2 || style_.one_in(2);
      if (said && receives) args.set("Src Rank", number_or_text(group.members[call.from]));
      if (said && sends) args.set("Dst Rank", number_or_text(group.members[call.to]));
    }
    return args;
  }

  Tree event_of(const std::string& category, const std::string& name, Ns start, Ns end) {
    Tree event = map({{"ph", text("X")}, {"cat", text(category)}, {"name", text(name)}, {"pid", plain(0)}});
    event.set("ts", plain(micros_text(style_, start)));
    event.set("dur", plain(micros_text(style_, end - start)));
    return event;
  }

  /// Streams on which nothing else runs: kernels of one stream do not overlap.
  std::uint64_t stream_for(const KernelTruth& kernel) {
    for (auto& [stream, free] : free_) {
      if (free > kernel.start) continue;
      free = kernel.end;
      return stream;
    }
    free_.emplace_back(7 + 13 * free_.size(), kernel.end);
    return free_.back().first;
  }

  void add_kernel(const KernelTruth& kernel, std::uint32_t rank, std::vector<Tree>& events) {
    const std::uint64_t stream = stream_for(kernel);
    const std::string name =
        kernel.call
            ? style_.pick<std::string>(
                  {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_X"})
            : style_.pick<std::string>({"gemm", "void at::native::\xC3\xA9l\xC3\xA9mentaire<4, \"x\">", "nccl_like"});
    Tree event = event_of(style_.one_in(8) ? "Kernel" : "kernel", name, kernel.start, kernel.end);
    Tree args = map({{"device", plain(0)}, {"grid", list({plain(1), plain(2)})}});
    const bool by_thread = style_.one_in(3);
    if (!by_thread) args.set("stream", number_or_text(stream));
    event.set("tid", plain(by_thread ? stream : 99));
    if (kernel.call) {
      Tree call = call_arguments(*kernel.call, rank);
      const bool by_host = style_.one_in(4);
      const std::uint64_t id = ++external_;
      if (by_host) {
        call.set("External id", plain(id));
        args.set("External id", number_or_text(id));
        Tree host = event_of("cpu_op", "record_param_comms", kernel.start - 5, kernel.start);
        cover_keys(call, cover_);
        host.set("args", call);
        events.push_back(host);
      } else {
        for (const auto& [key, value] : call.members) args.set(key, value);
      }
    } else if (style_.one_in(3)) {
      args.set("External id", plain(++external_));
    }
    event.set("args", args);
    events.push_back(event);
  }

  void add_steps(std::uint32_t rank, std::vector<Tree>& events) {
    const bool on_gpu = style_.one_in(2);
    for (std::uint64_t step = 0; step < truth_.steps; ++step) {
      Ns begin = std::numeric_limits<Ns>::max(), end = 0;
      for (const KernelTruth& k : truth_.ranks[rank]) {
        if (k.step != step) continue;
        begin = std::min(begin, k.start);
        end = std::max(end, k.end);
      }
      const std::string name = "ProfilerStep#" + std::to_string(step);
      if (on_gpu) events.push_back(event_of("gpu_user_annotation", name, begin, end));
      // Where the GPU's is there the host's does not count: it runs ahead.
      events.push_back(event_of("user_annotation", name, begin - (on_gpu ? std::min<Ns>(begin, 90'000) : 0), end));
    }
  }

  std::string file_of(std::uint32_t rank, bool bare, bool must_say_rank) {
    free_.clear();
    std::vector<KernelTruth> kernels = truth_.ranks[rank];
    std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    std::vector<Tree> events;
    for (const KernelTruth& kernel : kernels) add_kernel(kernel, rank, events);
    if (truth_.iteration || style_.one_in(2)) add_steps(rank, events);
    events.push_back(event_of("cpu_op", "aten::mm", kernels.front().start, kernels.front().end));
    events.push_back(event_of("gpu_memcpy", "Memcpy HtoD", kernels.front().start, kernels.front().end + 7));
    events.push_back(map({{"ph", text("M")}, {"name", text("process_name")}, {"args", map({{"name", text("python")}})}}));
    if (style_.one_in(2)) style_.shuffle(events);
    for (const Tree& event : events) {
      cover_keys(event, cover_);
      for (const auto& [key, value] : event.members) {
        if (key == "cat" || key == "ph") cover_.add(value.text);
      }
    }
    if (bare) return json_.of(list(events));
    Tree root = map({{"schemaVersion", plain(1)}, {"traceEvents", list(events)}, {"displayTimeUnit", text("ms")}});
    if (must_say_rank || style_.one_in(2)) {
      Tree job = map({{"rank", plain(std::uint64_t{rank})},
                      {"backend", text("nccl")},
                      {"pg_config", list({map({{"ranks", list({plain(3)})}})})}});
      if (style_.one_in(2)) job.set("world_size", plain(std::uint64_t{truth_.ranks.size()}));
      root.set("distributedInfo", job);
    }
    cover_keys(root, cover_);
    return json_.of(root);
  }

  Draw style_;
  const KinetoTruth& truth_;
  Cover& cover_;
  JsonText json_;
  std::vector<std::string> spelled_;  ///< by call
  std::map<std::size_t, std::string> receive_names_;
  std::vector<std::size_t> list_forms_;  ///< by group: 0 and 1 in full, 2 cut, 3 none
  std::vector<std::pair<std::uint64_t, Ns>> free_;
  std::uint64_t external_ = 0;
};

/// Whether every file has a kernel that counts, and two messages of a pair do not come from groups that call it otherwise.
Differences read_drawn_kineto(std::uint64_t seed, const KinetoTruth& written, const KinetoTruth& truth, Cover& cover) {
  KinetoWriter writer(seed, written, cover);
  const Folder folder;
  KinetoOptions options;
  writer.write(folder, options);
  std::vector<std::vector<ExpectedTask>> expected;
  for (std::uint32_t r = 0; r < truth.ranks.size(); ++r) {
    std::vector<ExpectedTask>& tasks = expected.emplace_back(expected_tasks(truth, r, writer.spelled()));
    std::size_t call = 0;
    for (const KernelTruth& k : truth.ranks[r]) {
      if (!k.call || (truth.iteration && k.step != *truth.iteration)) continue;
      if (truth.groups[truth.calls[*k.call].group].members.size() == 1) continue;
      while (tasks[call].kind == TaskKind::kCompute) ++call;
      if (tasks[call].kind == TaskKind::kReceive) tasks[call].name = writer.receive_name(*k.call);
      ++call;
    }
  }
  // A pair of ranks has one link, of the dimension of the first call.
  std::map<std::vector<std::uint32_t>, Dimension> links;
  for (std::vector<ExpectedTask>& tasks : expected) {
    for (ExpectedTask& task : tasks) {
      if (task.group.link) task.group.dimension = links.try_emplace(task.group.members, task.group.dimension).first->second;
    }
  }
  std::set<ExpectedGroup> groups;
  for (const std::vector<ExpectedTask>& tasks : expected) {
    for (const ExpectedTask& task : tasks) {
      if (task.kind != TaskKind::kCompute) groups.insert(task.group);
    }
  }
  Differences found;
  const TaskGraph graph = read_kineto(options);
  compare_graph(expected, graph, found);
  compare_communicators(groups, graph, found);
  return found;
}

TEST(DrawnKineto, TracesAreReadAsTheyWereWritten) {
  Cover cover;
  expect_read_as_written(250, [&](std::uint64_t seed) {
    const KinetoTruth truth = draw_kineto(seed);
    return read_drawn_kineto(seed, truth, truth, cover);
  });
  std::set<std::string> known =
      words_in({"src/formats/kineto/trace.cpp"}, {R"rx(key_ == "([^"]+)")rx", R"rx(category == "([^"]+)")rx"});
  known.merge(words_in({"src/formats/kineto/calls.cpp"}, {R"rx("(\w+)", Way::)rx", R"rx("(\w+)", \d)rx"}));
  cover.expect_all(known, {});
}

TEST(DrawnKineto, AnotherValueIsNoticed) {
  Cover cover;
  const std::set<std::string> names{"duration", "start", "elements", "type", "group", "member", "kernel"};
  expect_changes_noticed(120, names, [&](std::uint64_t seed, std::string& name) {
    Draw draw(seed, "kineto/planted");
    const KinetoTruth truth = draw_kineto(seed);
    KinetoTruth other = truth;
    const auto choice = draw.pick(std::vector<std::string>(names.begin(), names.end()));
    auto& kernels = other.ranks[draw.below(other.ranks.size())];
    if (truth.iteration) return true;
    if (choice == "duration") {  // of the last, which nothing hides
      std::max_element(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.end < b.end; })->end +=
          3;
      if (std::any_of(kernels.begin(), kernels.end(), [&](const auto& k) { return k.call.has_value(); })) return true;
    }
    if (choice == "start") {
      if (!kernels.front().call || truth.groups[truth.calls[*kernels.front().call].group].members.size() < 2) return true;
      kernels.front().start += 1;
      kernels.front().end += 1;
    }
    if (choice == "kernel")
      kernels.push_back({kernels.back().end + 900'000, kernels.back().end + 900'001, {}, truth.steps - 1});
    if (choice == "elements" || choice == "type" || choice == "group" || choice == "member") {
      if (other.calls.empty() || truth.groups[other.calls.front().group].members.size() < 2) return true;
      CallTruth& call = other.calls.front();
      if (call.op == CollectiveOp::kBarrier || call.op == CollectiveOp::kSend) return true;
      if (choice == "elements") call.elements += 1;
      if (choice == "type" && call.elements == 0) return true;
      if (choice == "type") other.dtype = truth.bytes == 8 ? "Float" : "Long";
      if (choice == "group") other.groups[call.group].name += "'";
      if (choice == "member") other.groups[call.group].members.pop_back();
    }
    name = choice;
    try {
      return !read_drawn_kineto(seed, other, truth, cover).none();
    } catch (const ConfigError&) {
      return true;
    }
  });
}

}  // namespace
}  // namespace photonrail::test::drawn
