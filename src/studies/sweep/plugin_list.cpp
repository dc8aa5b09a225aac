#include "studies/sweep/plugin_list.hpp"

#include "json/seal.hpp"
#include "photonrail/report.hpp"
#include "report/result_json.hpp"
#include "studies/sweep/inputs.hpp"

namespace photonrail::sweep {

std::string result_with_plugins(const RunResult& result, std::span<const std::filesystem::path> plugins) {
  if (plugins.empty()) return json::with_seal(photonrail::to_json(result));
  json::Json whole = report::result_json(result, true);
  json::Json list = json::Json::array();
  for (const auto& file : plugins)
    list.push_back(json::Json{{"file", json::Json(file.filename().string())}, {"hash", json::Json(input_of(file).hash)}});
  whole["plugins"] = std::move(list);
  return json::with_seal(whole.dump(2) + "\n");
}

}  // namespace photonrail::sweep
