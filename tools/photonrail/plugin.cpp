#include "photonrail/plugin.hpp"

#include "photonrail/error.hpp"
#include "plugin.hpp"

#include <dlfcn.h>

#include <string>
#include <system_error>

namespace photonrail::command {

namespace {

constexpr const char* kEntry = "photonrail_plugin";

// A complaint of dlopen() begins with the path, which the error has already.
std::string complaint_of_loader(const std::filesystem::path& file) {
  const char* const said = ::dlerror();
  std::string text = said == nullptr ? "unknown" : said;
  const std::string prefix = file.string() + ": ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  return text;
}

std::string hint_of(const std::string& complaint) {
  if (complaint.find("undefined symbol") != std::string::npos) {
    return "the library must define what it uses beside photonrail; a program of your own that calls command_main() must "
           "export "
           "the symbols of photonrail (docs/guide/extending.md)";
  }
  return "a shared library: c++ -std=c++20 -shared -fPIC mine.cpp -o libmine.so (docs/guide/extending.md)";
}

plugin::Entry entry_of(const std::filesystem::path& path, const std::string& where) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string complaint = complaint_of_loader(path);
    throw ConfigError(where, "cannot be loaded: " + complaint, hint_of(complaint));
  }
  void* const entry = ::dlsym(library, kEntry);
  if (entry == nullptr) {
    ::dlclose(library);
    throw ConfigError(where, std::string("has no entry point ") + kEntry,
                      "write PHOTONRAIL_PLUGIN(known) { known.controllers.add(...); } (photonrail/plugin.hpp)");
  }
  return reinterpret_cast<plugin::Entry>(entry);
}

/// An algorithm of another registry under its own name.
class Borrowed : public CollectiveAlgorithm {
 public:
  explicit Borrowed(const CollectiveAlgorithm& algorithm) : algorithm_(&algorithm) {}

  std::string_view name() const override { return algorithm_->name(); }
  std::string_view summary() const override { return algorithm_->summary(); }
  bool supports(CollectiveOp op, Member members) const override { return algorithm_->supports(op, members); }
  CollectiveClaims claims(CollectiveOp op, Member members) const override { return algorithm_->claims(op, members); }
  bool uses_places() const override { return algorithm_->uses_places(); }
  bool follows_box() const override { return algorithm_->follows_box(); }
  bool expects_straggler() const override { return algorithm_->expects_straggler(); }
  bool takes_demand() const override { return algorithm_->takes_demand(); }
  std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override { return algorithm_->expand(call); }
  std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    return algorithm_->cost(call, on);
  }

 private:
  const CollectiveAlgorithm* algorithm_;
};

}  // namespace

Registries extendable(const Registries& known) {
  Registries all{CollectiveRegistry{}, known.controllers};
  for (const auto& algorithm : known.collectives.all()) all.collectives.add(std::make_unique<Borrowed>(*algorithm));
  return all;
}

std::filesystem::path load_plugin(const std::filesystem::path& file, Registries& known) {
  const std::string where = "--plugin " + file.string();
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(file, error).lexically_normal();
  if (!std::filesystem::exists(path, error))
    throw ConfigError(where, "there is no such file", "the path of a shared library");
  if (std::filesystem::is_directory(path, error))
    throw ConfigError(where, "is a directory", "the path of the shared library in it");
  const plugin::Entry entry = entry_of(path, where);
  plugin::Call call;
  plugin::set_interface(call.command);
  call.registries = &known;
  entry(&call);
  if (call.version_differs != 0) {
    throw ConfigError(where, "was built for another version: " + std::string(call.plugin) + "; this is " + call.command,
                      "build it again, with the headers of this version and the same compiler");
  }
  if (call.problem[0] != '\0') {
    throw ConfigError(where, "failed to register its names: " + std::string(call.problem),
                      "each name once, and none of `photonrail list controllers` and `list collectives`");
  }
  return path;
}

}  // namespace photonrail::command
