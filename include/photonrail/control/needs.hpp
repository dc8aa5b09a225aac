// The needs are what a policy needs besides requests and circuits.
#pragma once

#include "photonrail/control/control_plane.hpp"
#include "photonrail/ids.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace photonrail {

/// An input of a policy that a run computes only where its policy needs it, so that unused inputs cost nothing.
enum class ViewPart : std::uint8_t {
  kBytes,              ///< CircuitRequest::bytes, PortView::bytes_left
  kRounds,             ///< CircuitRequest::next
  kSchedule,           ///< FabricView::schedule, from a profiling run on electrical rails
  kScheduleWithPorts,  ///< kSchedule, but only where a NIC has several ports
  kTraffic,            ///< FabricView::traffic, traffic_now
  kDueTimes,           ///< CircuitRequest::expected, due; from a profiling run of one step on electrical rails
  kTaskEvents,  ///< CircuitRequest::requester_progressed, FabricView::running; asked when a task ends while operations wait
  kByPort       ///< FabricView::by_port
};

/// Throws ControllerError: a policy reads what its PolicyNeeds do not ask for.
[[noreturn]] void fail_unasked(ViewPart part);

/// A list that a run computes only where a policy needs it. In a view written by hand it is what is assigned to it, or
/// empty; in a run whose policy did not ask for it, reading it throws ControllerError, since an empty list would pass for
/// an answer.
template <class Value>
class ViewList {
 public:
  constexpr ViewList() = default;
  template <class List>
  requires std::convertible_to<const List&, std::span<const Value>>
  constexpr ViewList(const List& list) {
    const std::span<const Value> values = list;
    data_ = values.data();
    size_ = values.size();
  }
  [[nodiscard]] static constexpr ViewList unasked(ViewPart part) {
    ViewList list;
    list.size_ = kUnasked + static_cast<std::size_t>(part);
    return list;
  }

  [[nodiscard]] constexpr std::size_t size() const {
    if (size_ >= kUnasked) [[unlikely]]
      fail_unasked(static_cast<ViewPart>(size_ - kUnasked));
    return size_;
  }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  [[nodiscard]] constexpr const Value* begin() const {
    static_cast<void>(size());
    return data_;
  }
  [[nodiscard]] constexpr const Value* end() const { return data_ + size(); }
  /// REQUIRES: i < size().
  [[nodiscard]] constexpr const Value& operator[](std::size_t i) const { return begin()[i]; }
  constexpr operator std::span<const Value>() const { return {data_, size()}; }

 private:
  static constexpr std::size_t kUnasked = static_cast<std::size_t>(-1) - 0xff;  // and above, by part

  const Value* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A set of them.
class ViewParts {
 public:
  constexpr ViewParts() = default;
  constexpr ViewParts(std::initializer_list<ViewPart> parts) {
    for (const ViewPart part : parts) add(part);
  }

  constexpr ViewParts& add(ViewPart part, bool wanted = true) {
    if (wanted) parts_ = static_cast<std::uint8_t>(parts_ | bit(part));
    return *this;
  }
  [[nodiscard]] constexpr bool has(ViewPart part) const { return (parts_ & bit(part)) != 0; }
  [[nodiscard]] constexpr bool has_any(ViewParts of) const { return (parts_ & of.parts_) != 0; }

  friend constexpr bool operator==(ViewParts, ViewParts) = default;

 private:
  [[nodiscard]] static constexpr std::uint8_t bit(ViewPart part) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(part));
  }

  std::uint8_t parts_ = 0;
};

/// When the ranks request circuits.
enum class Announcement : std::uint8_t {
  kOnDemand,  ///< when they need them
  kAhead      ///< when an operation completes, those of the next one of the schedule
};

/// The order in which a rank issues its rail operations.
enum class OperationOrder : std::uint8_t {
  kScheduled,  ///< that of the profiling run
  kFree        ///< as its tasks become ready
};

/// The communication lanes of an operation while it waits for circuits: it keeps them, or leaves them to others.
enum class LaneRule : std::uint8_t {
  kKeep,
  kYield,              ///< leaves them to others
  kYieldEarliestFirst  ///< the same, and lanes are assigned earliest deadline first; needs ViewPart::kDueTimes
};

/// Describes how the ranks communicate with a controller (the shim of Opus, arXiv 2602.12521, section 4).
struct RankBehaviour {
  Announcement announce = Announcement::kOnDemand;
  OperationOrder order = OperationOrder::kFree;
  LaneRule lanes = LaneRule::kKeep;
  std::vector<ShimSpec> of_ranks{};  ///< settings of some ranks in place of these

  [[nodiscard]] bool announces(RankId rank) const;
  [[nodiscard]] bool announces_any() const;
};

/// Describes how operations get circuits.
enum class Service : std::uint8_t {
  kByRound,  ///< a round of an operation takes all its circuits together or none, and keeps each until its last send
  /// A send waits for the circuits of its own pair only, and holds them only while it is in flight. Operations then run
  /// send by send at either fidelity, because a ring with links that are lit one after the other is not one flow. Where no
  /// maximum of hops is given, sends are forwarded only if the rail forwards and faulty ports rule out a direct circuit.
  kByPair
};

/// A send whose own circuit is being set up, where it could be forwarded over others, is forwarded or waits.
enum class WhileSwitching : std::uint8_t { kForward, kWait };

/// The inputs and services that a policy needs besides requests and circuits.
struct PolicyNeeds {
  ViewParts view{};
  RankBehaviour ranks{};
  Service service = Service::kByRound;
  std::uint32_t hops = 0;  ///< maximum circuits that a send may be forwarded over, in place of the rail's; 0: the rail's
  WhileSwitching while_switching = WhileSwitching::kForward;

  [[nodiscard]] bool has(ViewPart part) const { return view.has(part); }
  [[nodiscard]] bool by_pair() const { return service == Service::kByPair; }
  /// Returns true when the bytes that each pair exchanges must be computed.
  [[nodiscard]] bool weighs() const {
    return by_pair() || view.has_any({ViewPart::kBytes, ViewPart::kRounds, ViewPart::kSchedule, ViewPart::kTraffic});
  }
  /// These needs on NICs with `ports` ports: resolves kScheduleWithPorts.
  [[nodiscard]] PolicyNeeds with_ports(std::uint32_t ports) const {
    PolicyNeeds needs = *this;
    needs.view.add(ViewPart::kSchedule, ports > 1 && view.has(ViewPart::kScheduleWithPorts));
    return needs;
  }
};

}  // namespace photonrail
