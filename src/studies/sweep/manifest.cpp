#include "studies/sweep/manifest.hpp"
#include "json/in_file.hpp"

#include "config/json_reader.hpp"
#include "formats/input_file.hpp"
#include "json/seal.hpp"
#include "photonrail/report.hpp"
#include "photonrail/version.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace photonrail::sweep {

namespace {

constexpr std::string_view kManifestSchema = "photonrail.sweep_results/1";
constexpr const char* kManifest = "manifest.json";
constexpr const char* kLock = "lock";

std::string content(int file) {
  std::array<char, 256> text{};
  const auto length = ::pread(file, text.data(), text.size(), 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string("unknown");
}

}  // namespace

Manifest Manifest::of(const Sweep& sweep) {
  Manifest manifest{sweep.name,
                    sweep.why,
                    sweep.hash,
                    std::string(photonrail::version()),
                    sweep.points.size(),
                    sweep.parameters,
                    absolute(sweep.file).lexically_normal().string(),
                    {}};
  for (const SweepInput& input : sweep.inputs) {
    manifest.inputs[input.file.lexically_proximate(sweep.base_directory).string()] = input.hash;
  }
  manifest.base = sweep.base;
  for (const SweepPoint& point : sweep.points) {
    for (const Override& change : point.patch) manifest.varied.insert(change.pointer);
  }
  return manifest;
}

std::optional<Manifest> read_manifest(const std::filesystem::path& directory) {
  const auto file = directory / kManifest;
  std::error_code ignored;
  if (!exists(file, ignored)) return std::nullopt;
  return json::in_file(json::without_seal(formats::read_file(file), file), file.string(), [&](const Json& root) {
    json::JsonReader top(root);
    const auto schema = top.child("schema");
    if (schema.string() != kManifestSchema)
      schema.fail("unknown schema", "this reader knows " + std::string(kManifestSchema));
    Manifest manifest;
    manifest.name = top.child("name").string();
    manifest.why = top.child("why").string();
    manifest.hash = top.child("sweep_hash").string();
    manifest.version = top.child("version").string();
    manifest.points = top.child("points").integer(1, 1'000'000);
    for (const auto& name : top.child("parameters").elements()) manifest.parameters.push_back(name.string());
    manifest.file = top.child("file").string();
    if (const auto inputs = top.optional("inputs")) {
      for (const auto& [file_name, hash] : inputs->members()) manifest.inputs[file_name] = hash.string();
    }
    if (const auto base = top.optional("base")) manifest.base = base->json().canonical();
    if (const auto varied = top.optional("varied")) {
      for (const auto& pointer : varied->elements()) manifest.varied.insert(pointer.string());
    }
    top.finish();
    return manifest;
  });
}

void claim(const std::filesystem::path& directory, const Manifest& manifest) {
  std::error_code error;
  create_directories(directory, error);
  if (error)
    throw ConfigError(directory.string(), "cannot make the folder: " + error.message(), "choose another for --out");
  const auto there = read_manifest(directory);
  if (there && there->hash != manifest.hash) {
    const std::string which = there->version != manifest.version ? " (photonrail " + there->version + ")" : "";
    throw ConfigError(directory.string(),
                      "holds the results of another sweep, \"" + there->name + "\" of " + there->file + which +
                          ", or of another state of it",
                      "choose another folder for --out; nothing was changed");
  }
  if (there) return;
  if (exists(directory / "results.db", error)) {
    throw ConfigError(directory.string(), "has a results.db but no manifest.json that says of what",
                      "choose another folder for --out; nothing was changed");
  }
  write_manifest(directory, manifest);
}

void write_manifest(const std::filesystem::path& directory, const Manifest& manifest) {
  json::Json text;
  text["schema"] = kManifestSchema;
  text["name"] = manifest.name;
  text["why"] = manifest.why;
  text["sweep_hash"] = manifest.hash;
  text["version"] = manifest.version;
  text["points"] = manifest.points;
  text["parameters"] = manifest.parameters;
  text["file"] = manifest.file;
  if (!manifest.inputs.empty()) {
    json::Json& inputs = text["inputs"];
    for (const auto& [name, hash] : manifest.inputs) inputs[name] = hash;
  }
  if (const auto base = json::parse_if_json(manifest.base)) text["base"] = *base;
  text["varied"] = std::vector<std::string>(manifest.varied.begin(), manifest.varied.end());
  write_file(directory / kManifest, json::with_seal(text.dump(2) + "\n"));
}

Lock::Lock(const std::filesystem::path& directory) {
  const auto path = directory / kLock;
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw ConfigError(path.string(), "cannot write: " + std::generic_category().message(errno),
                      "the folder must exist, have room and be writable");
  }
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const std::string who = content(file_);
    ::close(file_);
    throw FolderInUse(directory.string(), "another photonrail writes here: " + who, "wait until it has ended");
  }
  const std::string who = host_name() + ", process " + std::to_string(::getpid());
  // Only for people: a disk that is full is found out by what matters.
  if (::ftruncate(file_, 0) == 0) static_cast<void>(::pwrite(file_, who.data(), who.size(), 0) == 0);
}

Lock::~Lock() { ::close(file_); }

std::string Lock::holder(const std::filesystem::path& directory) {
  const int file = ::open((directory / kLock).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const bool taken = ::flock(file, LOCK_SH | LOCK_NB) != 0;
  const std::string who = taken ? content(file) : std::string{};
  ::close(file);
  return who;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace photonrail::sweep
