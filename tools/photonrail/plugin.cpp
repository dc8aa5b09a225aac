#include "photonrail/plugin.hpp"

#include "photonrail/error.hpp"
#include "plugin.hpp"
#include "watched_parts.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <fstream>
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

// The loader maps what the header of the file names, and a page beyond the end of a file cannot be read: a signal.
bool is_cut_off(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::uint64_t size = std::filesystem::file_size(file, ignored);
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr header{};
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header)) return false;  // too short for the loader as well
  if (std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) != ELFMAG ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  in.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!in.read(reinterpret_cast<char*>(&segment), sizeof segment)) return true;
    if (segment.p_filesz > size || segment.p_offset > size - segment.p_filesz) return true;
  }
  return false;
}

plugin::Entry entry_of(const std::filesystem::path& path, const std::string& where) {
  if (is_cut_off(path)) throw ConfigError(where, "is cut off: it is shorter than its header says", "build it again");
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

// Those of the plug-in are behind the ones that were there before.
template <class Registry>
void watch_new(Registry& registry, std::size_t before, const std::string& where) {
  Registry all{};
  for (std::size_t i = 0; i < registry.all().size(); ++i)
    all.add(i < before ? registry.all()[i] : watched(registry.all()[i], where));
  registry = std::move(all);
}

}  // namespace

Registries extendable(const Registries& known) {
  Registries all{CollectiveRegistry{}, known.controllers, known.agents, known.schedulers};
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
  const std::size_t controllers = known.controllers.all().size();
  const std::size_t agents = known.agents.all().size();
  const std::size_t schedulers = known.schedulers.all().size();
  entry(&call);
  if (call.version_differs != 0) {
    throw ConfigError(where, "was built for another version: " + std::string(call.plugin) + "; this is " + call.command,
                      "build it again, with the headers of this version and the same compiler");
  }
  if (call.problem[0] != '\0') {
    throw ConfigError(where, "failed to register its names: " + std::string(call.problem),
                      "each name once, and none that `photonrail list` has already");
  }
  watch_new(known.controllers, controllers, where);
  watch_new(known.agents, agents, where);
  watch_new(known.schedulers, schedulers, where);
  return path;
}

}  // namespace photonrail::command
