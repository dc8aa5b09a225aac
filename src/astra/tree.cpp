// One tree of the double binary tree. The members but one are a full binary tree in order; the one left over is its root's
// parent, and the last of all members in one tree, the first in the other.
#include "astra/chunk.hpp"

#include <bit>
#include <optional>

namespace photonrail::astra {

namespace {

// Holds what the other end of an edge is to a member.
constexpr std::uint32_t kParent = 0;
constexpr std::uint32_t kLeft = 1;
constexpr std::uint32_t kRight = 2;

/// A member's neighbours in the tree, as places in the circle.
struct TreePlace {
  std::optional<std::uint32_t> parent, left, right;
  std::uint32_t to_parent = kLeft;  // what the member is to its parent

  [[nodiscard]] bool is_root() const { return !parent; }
  [[nodiscard]] bool is_leaf() const { return parent && !left; }
};

TreePlace tree_place(const Chunk& chunk) {
  const Phase& p = phase_of(chunk);
  const std::uint32_t n = p.circle.members;
  const std::uint32_t first = p.other_tree ? 1 : 0;  // place of the full tree's first member
  const std::uint32_t root = p.other_tree ? 0 : n - 1;
  const std::uint32_t top = first + n / 2 - 1;
  if (chunk.place == root) return p.other_tree ? TreePlace{{}, {}, top} : TreePlace{{}, top, {}};
  const std::uint32_t j = chunk.place - first + 1;  // from 1, in order: its level is the number of its last zeros
  const auto bit = 1U << std::countr_zero(j);
  TreePlace place;
  if (chunk.place == top) {
    place.parent = root;
    place.to_parent = p.other_tree ? kRight : kLeft;
  } else {
    const std::uint32_t parent = (j - bit) | (bit << 1U);
    place.parent = first + parent - 1;
    place.to_parent = j < parent ? kLeft : kRight;
  }
  if (bit == 1) return place;
  place.left = first + j - bit / 2 - 1;
  place.right = first + j + bit / 2 - 1;
  return place;
}

void send_to(Chunk& chunk, ChunkActions& act, std::uint32_t place, std::uint32_t source) {
  const Phase& p = phase_of(chunk);
  act.send(chunk, p.circle.rank(chunk.rank, place), source, p.message_bytes);
}

void handle(Chunk& chunk, ChunkActions& act, bool reduce, TreeState next) {
  chunk.at.tree = next;
  act.handle(chunk, reduce, phase_of(chunk).message_bytes);
}

void send_up(Chunk& chunk, ChunkActions& act, const TreePlace& place) {
  chunk.at.tree = TreeState::kFromParent;
  send_to(chunk, act, *place.parent, place.to_parent);
  act.expect(chunk, kParent);
}

void send_down(Chunk& chunk, ChunkActions& act, const TreePlace& place) {
  if (place.left) send_to(chunk, act, *place.left, kParent);
  if (place.right) send_to(chunk, act, *place.right, kParent);
  act.finish(chunk);
}

}  // namespace

void start_tree(Chunk& chunk, ChunkActions& act) {
  const TreePlace place = tree_place(chunk);
  if (place.is_leaf()) return handle(chunk, act, false, TreeState::kToParent);
  chunk.at.tree = place.is_root() ? TreeState::kOneChild : TreeState::kTwoChildren;
  if (place.left) act.expect(chunk, kLeft);
  if (place.right) act.expect(chunk, kRight);
}

void received_tree(Chunk& chunk, ChunkActions& act) {
  const TreePlace place = tree_place(chunk);
  if (place.is_leaf()) return handle(chunk, act, false, TreeState::kEnd);
  if (place.is_root()) return handle(chunk, act, true, TreeState::kToChildren);
  if (chunk.at.tree == TreeState::kTwoChildren) return handle(chunk, act, true, TreeState::kOneChild);
  if (chunk.at.tree == TreeState::kOneChild) return handle(chunk, act, true, TreeState::kToParent);
  handle(chunk, act, true, TreeState::kToChildren);
}

void ready_tree(Chunk& chunk, ChunkActions& act) {
  const TreePlace place = tree_place(chunk);
  if (chunk.at.tree == TreeState::kEnd) return act.finish(chunk);
  const bool inner = !place.is_leaf() && !place.is_root();
  if (inner && !chunk.at.one_reduced) {
    chunk.at.one_reduced = true;
  } else if (chunk.at.tree == TreeState::kToParent) {
    send_up(chunk, act, place);
  } else if (chunk.at.tree == TreeState::kToChildren) {
    send_down(chunk, act, place);
  }
}

}  // namespace photonrail::astra
