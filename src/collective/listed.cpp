#include "collective/listed.hpp"

#include "collective/uniform_plan.hpp"
#include "photonrail/error.hpp"

#include <utility>

namespace photonrail::collective {

namespace {

class Listed final : public CollectiveAlgorithm {
 public:
  Listed(std::string name, std::string summary, ListedPlan plan)
      : name_(std::move(name)), summary_(std::move(summary)), plan_(std::move(plan)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view summary() const override { return summary_; }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return op == plan_.op && members == plan_.members;
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    const auto relabelled = [&](Member m) { return m == plan_.root ? call.root : m == call.root ? plan_.root : m; };
    SendPlanBuilder builder(call.members, plan_.chunk_count);
    for (const ListedSend& listed : plan_.sends) {
      Send send{.from = relabelled(listed.from), .to = relabelled(listed.to)};
      send.bytes = bytes(call, listed);
      send.first_chunk = listed.first_chunk;
      send.chunks = listed.chunks;
      send.reduce = listed.reduce;
      builder.add(send, listed.after);
    }
    return std::move(builder).build();
  }

 private:
  [[nodiscard]] Bytes bytes(const CollectiveCall& call, const ListedSend& send) const {
    if (plan_.whole > 0) {  // rounded up: a message does not vanish
      const __int128 scaled = static_cast<__int128>(send.parts) * call.size.count;
      return {static_cast<std::int64_t>((scaled + plan_.whole - 1) / plan_.whole)};
    }
    Bytes sum{};
    for (std::uint32_t c = 0; c < send.chunks; ++c) sum += chunk_bytes(call, plan_.chunk_count, send.first_chunk + c);
    return sum;
  }

  std::string name_;
  std::string summary_;
  ListedPlan plan_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_listed(std::string name, std::string summary, ListedPlan plan) {
  return std::make_shared<Listed>(std::move(name), std::move(summary), std::move(plan));
}

}  // namespace photonrail::collective
