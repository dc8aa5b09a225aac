// Local work of members and the messages between them, with what waits for what: the common ground of every collective that
// comes as a file. Turns the order of the work into which messages must have arrived before a message may leave.
#pragma once

#include "photonrail/collective.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::collective {

class MessageGraph {
 public:
  using Node = std::uint32_t;
  using Message = std::uint32_t;
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  /// When a node that sends counts as done for one that waits for it.
  enum class Until : std::uint8_t {
    kLeft,    ///< its message is on its way
    kArrived  ///< its message is there
  };

  Node add_node();
  /// `after` begins when `before` is done.
  void order(Node before, Node after, Until until = Until::kLeft);
  /// A message that leaves when `from` is done and that `to` needs. Messages of one lane are numbered in the order of the
  /// calls; of two of them the later must wait for at least as much as the earlier. A node sends one message at the most
  /// and receives one at the most.
  Message connect(Node from, Node to, std::uint32_t lane);
  /// The message that `receiver` gets would overwrite what `before` works on: it does not leave before what `before` waits
  /// for is there. REQUIRES: order(before, receiver).
  void protect(Node before, Node receiver);

  [[nodiscard]] std::size_t nodes() const { return sent_.size(); }
  [[nodiscard]] Message sent_by(Node node) const { return sent_[node]; }          ///< or kNone
  [[nodiscard]] Message received_by(Node node) const { return received_[node]; }  ///< or kNone

  /// All nodes, each after what it waits for; of those that could be next the one with the least `rank` first.
  /// Shorter than nodes() when some wait for each other in a circle. REQUIRES: a rank for every node.
  [[nodiscard]] std::vector<Node> sequence(std::span<const std::uint64_t> rank) const;
  /// Indexed by node: how many nodes stand one after another before it; a rank for sequence() that keeps steps together.
  /// REQUIRES: no circle.
  [[nodiscard]] std::vector<std::uint64_t> levels() const;
  /// Nodes that wait for each other in a circle, each for the next and the last for the first; empty when there is none.
  [[nodiscard]] std::vector<Node> circle() const;

  /// Indexed by message: the messages that must have arrived before it may leave; all of them are received before it is in
  /// `sequence`, one of sequence(), complete.
  [[nodiscard]] std::vector<std::vector<Message>> waits(std::span<const Node> sequence) const;

 private:
  struct Edge {
    Node before;
    Until until;
  };
  /// The number of messages of each lane that have arrived, lanes ascending.
  using Clock = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  static void join(Clock& into, const Clock& other);
  [[nodiscard]] Clock stamp(Message message) const;
  /// Indexed by node: what has arrived when it is done.
  [[nodiscard]] std::vector<Clock> clocks(std::span<const Node> sequence) const;
  [[nodiscard]] std::vector<std::uint32_t> indegrees() const;
  [[nodiscard]] std::vector<std::vector<Node>> successors() const;

  std::vector<std::vector<Edge>> before_;     ///< by node
  std::vector<std::vector<Node>> protected_;  ///< by node: protect()
  std::vector<Message> sent_;
  std::vector<Message> received_;
  struct Wire {
    Node from;
    Node to;
    std::uint32_t lane;
    std::uint32_t number;
  };
  std::vector<Wire> messages_;
  std::vector<std::vector<Message>> lanes_;
};

}  // namespace photonrail::collective
