// Small Chrome traces, as PyTorch's profiler writes them.
#pragma once

#include "formats/chakra/chakra_support.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace photonrail::test {

using KinetoJson = nlohmann::ordered_json;

/// Times in microseconds.
inline KinetoJson kernel(double start, double duration, int stream = 7, const std::string& name = "gemm") {
  return {{"ph", "X"},     {"cat", "kernel"}, {"name", name},    {"pid", 0},
          {"tid", stream}, {"ts", start},     {"dur", duration}, {"args", {{"device", 0}, {"stream", stream}}}};
}

struct NcclCall {
  std::string collective = "allreduce";
  std::int64_t in = 1000;
  std::int64_t out = 1000;
  std::string dtype = "Float";
  std::string group = "0";
  std::string ranks = "[0, 1]";
  std::int64_t size = 2;
};

inline KinetoJson nccl(double start, double duration, const NcclCall& call, int stream = 20) {
  KinetoJson event =
      kernel(start, duration, stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  event["args"].update({{"Collective name", call.collective},
                        {"In msg nelems", call.in},
                        {"Out msg nelems", call.out},
                        {"Group size", call.size},
                        {"dtype", call.dtype},
                        {"Process Group Name", call.group},
                        {"Process Group Ranks", call.ranks}});
  return event;
}

inline KinetoJson step(int number, double start, double duration, const std::string& category = "user_annotation") {
  return {
      {"ph", "X"}, {"cat", category}, {"name", "ProfilerStep#" + std::to_string(number)}, {"ts", start}, {"dur", duration}};
}

inline std::string kineto_trace(const std::vector<KinetoJson>& events) {
  KinetoJson root{{"schemaVersion", 1}, {"deviceProperties", {{{"id", 0}, {"name", "NVIDIA H100"}}}}};
  root["traceEvents"] = events;
  root["traceEvents"].push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 0}, {"args", {{"name", "python"}}}});
  root["traceName"] = "trace.json";
  return root.dump();
}

/// One file a rank, in `folder`.
inline KinetoOptions put_kineto(const Folder& folder, const std::vector<std::string>& files) {
  for (std::size_t r = 0; r < files.size(); ++r) folder.write("rank" + std::to_string(r) + "_trace.json", files[r]);
  return {folder.path(), {}};
}

}  // namespace photonrail::test
