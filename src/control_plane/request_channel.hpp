// The channel carries what travels between ranks, controllers and switches: messages take time, wait to be served one after
// another, are lost and sent again.
#pragma once

#include "engine/engine.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/core/random.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::control_plane {

class RequestListener {
 public:
  virtual ~RequestListener() = default;
  /// A request was served, by the rail's controller or by the root; the others are those of request().
  virtual void request_served(std::uint32_t slot, std::uint32_t serial, RankId from, bool by_root) = 0;
};

/// One message on a channel that may lose it: it is sent again when it has not arrived after the time-out. Returns the time
/// from the first sending to the first arrival, where a message takes `own` and a drawn delay. Throws DeadlockError, naming
/// `what`, when all that were sent are lost.
[[nodiscard]] Duration deliver(const MessageSpec& spec, Duration own, RandomStream& random, const char* what, RailId rail);

class RequestChannel {
 public:
  /// `engine` and `spec` must outlive the object.
  RequestChannel(engine::Engine& engine, const ControllerSpec& spec, std::size_t rails, std::uint64_t seed);

  /// Sets the receiver of requests. It must outlive the object.
  void attach(RequestListener& listener) { listener_ = &listener; }

  [[nodiscard]] bool hierarchical() const { return spec_.control.placement == ControllerPlacement::kHierarchical; }

  /// Sends a rank's request to the controller of a rail. Notifies the listener at once where that takes no time.
  void request(RailId rail, RankId rank, std::uint32_t slot, std::uint32_t serial);
  /// From the controller of a rail to the root. REQUIRES: hierarchical().
  void ask_root(RailId rail, RankId rank, std::uint32_t slot, std::uint32_t serial);
  /// Returns how long a command takes to reach the switches of a rail, and how long the ranks take to learn that it is
  /// done.
  [[nodiscard]] Duration command(RailId rail);
  [[nodiscard]] Duration acknowledgement(RailId rail);

  /// The controller of the rail forgets what it has, and what is on its way to it is lost.
  void forget(RailId rail);

 private:
  struct Message {
    std::uint32_t slot = 0;
    std::uint32_t serial = 0;
    RailId rail;
    RankId from;
    std::uint32_t epoch = 0;
    bool to_root = false;
  };
  struct Rail {
    RandomStream requests;
    RandomStream commands;
    RandomStream acknowledgements;
    std::uint32_t epoch = 0;  // how often its controller was restarted
  };

  [[nodiscard]] Duration way(RankId rank) const;
  void post(const Message& message, Duration travel);
  void arrived(std::uint64_t message);
  void served(std::uint64_t message);

  engine::Engine& engine_;
  const ControllerSpec& spec_;
  RequestListener* listener_ = nullptr;
  std::vector<Rail> rails_;
  std::vector<Time> free_at_;  // of every queue of rails, or the one for all
  Time root_free_at_{};
  std::vector<Message> messages_;  // on their way
  std::vector<std::uint32_t> free_messages_;
};

}  // namespace photonrail::control_plane
