#include "formats/kineto/calls.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace photonrail::formats::kineto {

namespace {

struct Named {
  std::string_view name;
  Way way;
  CollectiveOp op;
};
// As in plain_name().
constexpr std::array<Named, 13> kCollectives{{{"allreduce", Way::kCollective, CollectiveOp::kAllReduce},
                                              {"allgather", Way::kCollective, CollectiveOp::kAllGather},
                                              {"reducescatter", Way::kCollective, CollectiveOp::kReduceScatter},
                                              {"alltoall", Way::kCollective, CollectiveOp::kAllToAll},
                                              {"alltoallv", Way::kCollective, CollectiveOp::kAllToAll},
                                              {"broadcast", Way::kCollective, CollectiveOp::kBroadcast},
                                              {"reduce", Way::kCollective, CollectiveOp::kReduce},
                                              {"gather", Way::kCollective, CollectiveOp::kGather},
                                              {"scatter", Way::kCollective, CollectiveOp::kScatter},
                                              {"barrier", Way::kCollective, CollectiveOp::kBarrier},
                                              {"send", Way::kSend, CollectiveOp::kSend},
                                              {"recv", Way::kReceive, CollectiveOp::kSend},
                                              {"receive", Way::kReceive, CollectiveOp::kSend}}};

struct Type {
  std::string_view name;
  std::uint64_t bytes;
};
// PyTorch's names of scalar types.
constexpr std::array<Type, 16> kTypes{{{"Float", 4},
                                       {"Half", 2},
                                       {"BFloat16", 2},
                                       {"Double", 8},
                                       {"Byte", 1},
                                       {"Char", 1},
                                       {"Bool", 1},
                                       {"Short", 2},
                                       {"Int", 4},
                                       {"Long", 8},
                                       {"ComplexFloat", 8},
                                       {"ComplexDouble", 16},
                                       {"Float8_e4m3fn", 1},
                                       {"Float8_e5m2", 1},
                                       {"Float8_e4m3fnuz", 1},
                                       {"Float8_e5m2fnuz", 1}}};

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;  // 1 PiB

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
}

// "_allgather_base", "all_gather_into_tensor_coalesced": one operation in many spellings.
std::string plain_name(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* part : {"_coalesced", "_into_tensor", "_tensor", "_base", "_oop", "_single", "_"}) erase_all(name, part);
  return name;
}

const Named& find_collective(const std::string& name) {
  const std::string plain = plain_name(name);
  const auto found =
      std::find_if(kCollectives.begin(), kCollectives.end(), [&](const Named& n) { return n.name == plain; });
  if (found != kCollectives.end()) return *found;
  std::vector<std::string> known;
  for (const Named& n : kCollectives) known.emplace_back(n.name);
  throw ConfigError("", "unknown collective \"" + name + "\"", suggest(plain, known));
}

std::uint64_t element_bytes(const std::string& dtype) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& t) { return t.name == dtype; });
  if (found != kTypes.end()) return found->bytes;
  std::vector<std::string> known;
  for (const Type& t : kTypes) known.emplace_back(t.name);
  throw ConfigError("", dtype.empty() ? "has no dtype" : "unknown dtype \"" + dtype + "\"", suggest(dtype, known));
}

// The count that says the size in the convention of CollectiveCall: a scatter's root alone has an input.
std::uint64_t elements(const Call& call, const Named& named, std::size_t members) {
  const bool by_output = named.op == CollectiveOp::kScatter || named.way == Way::kReceive;
  const auto& count = by_output ? call.out_elements : call.in_elements;
  if (!count) throw ConfigError("", std::string("has no \"") + (by_output ? "Out" : "In") + " msg nelems\"");
  const std::uint64_t parts = named.op == CollectiveOp::kScatter ? members : 1;
  if (*count > kMaxBytes / parts) throw ConfigError("", "moves more than 1 PiB");
  return *count * parts;
}

}  // namespace

Meaning meaning_of(const Call& call, std::size_t members) {
  const Named& named = find_collective(call.collective);
  Meaning meaning{named.way, named.op, {}};
  if (named.op == CollectiveOp::kBarrier) return meaning;
  if (named.op == CollectiveOp::kAllToAll && call.uneven_split) {
    throw ConfigError("", "is an all-to-all of unequal parts", "only equal parts are simulated from a Kineto trace");
  }
  const std::uint64_t unit = element_bytes(call.dtype);
  const std::uint64_t count = elements(call, named, members);
  if (count > kMaxBytes / unit) throw ConfigError("", "moves more than 1 PiB");
  meaning.size = Bytes{static_cast<std::int64_t>(count * unit)};
  return meaning;
}

Dimension dimension_of(std::string_view description) {
  std::string word;
  const auto known = [&] { return word == "fsdp" ? Dimension::kDp : dimension_from(word).value_or(Dimension::kOther); };
  for (const char c : description) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (known() != Dimension::kOther) return known();
    word.clear();
  }
  return known();
}

}  // namespace photonrail::formats::kineto
