#include "serving/engine/blocks.hpp"

#include "core/mix64.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::serving {

std::uint64_t Content::own_key(std::uint32_t block) const {
  return core::mix64(core::mix64(request + core::kMix64Step) + block);
}

std::uint64_t Content::joined_key(std::uint32_t block) const {
  std::uint64_t joined = per_block;
  for (const std::uint64_t key : prompt.subspan(std::size_t{block} * per_block, per_block)) {
    joined = core::mix64(core::mix64(joined + core::kMix64Step) + key);
  }
  return joined;
}

KvBlocks::KvBlocks(std::uint64_t blocks, bool keeps_contents)
    : total_(blocks), free_(blocks), keeps_contents_(keeps_contents), blocks_(1) {
  PHOTONRAIL_CHECK(blocks > 0);
}

std::uint32_t KvBlocks::hits(const Content& content, std::uint32_t most) const {
  if (!keeps_contents_) return 0;
  std::uint32_t found = 0;
  while (found < most && first_with_.find(content.key(found)) != ContentIndex::kNone) ++found;
  return found;
}

bool KvBlocks::admit(HeldBlocks& held, const Content& content, std::uint32_t hits, std::uint32_t blocks,
                     std::uint64_t spare) {
  PHOTONRAIL_CHECK(held.count == 0 && hits <= blocks);
  std::uint64_t taken = blocks - hits;
  for (std::uint32_t i = 0; i < hits; ++i) {
    if (blocks_[first_with_.find(content.key(i))].holders == 0) ++taken;
  }
  if (taken + spare > free_) return false;
  for (std::uint32_t i = 0; i < hits; ++i) {
    const std::uint32_t id = first_with_.find(content.key(i));
    if (blocks_[id].holders++ == 0) unlink(id);
    held.ids.push_back(id);
  }
  held.count = hits;
  return grow(held, blocks);
}

bool KvBlocks::grow(HeldBlocks& held, std::uint32_t blocks) {
  if (blocks <= held.count) return true;
  if (blocks - held.count > free_) return false;
  if (!keeps_contents_) {
    free_ -= blocks - held.count;
    held.count = blocks;
    return true;
  }
  for (; held.count < blocks; ++held.count) held.ids.push_back(take_front());
  return true;
}

void KvBlocks::fill(const HeldBlocks& held, const Content& content, std::uint32_t from, std::uint32_t to) {
  if (!keeps_contents_) return;
  for (std::uint32_t i = from; i < to; ++i) {
    const std::uint32_t id = held.ids[i];
    Block& block = blocks_[id];
    if (block.known) continue;
    block.key = content.key(i);
    block.known = true;
    std::uint32_t last = first_with_.find(block.key);
    if (last == ContentIndex::kNone) {
      first_with_.set(block.key, id);
      continue;
    }
    while (blocks_[last].same != kEnd) last = blocks_[last].same;
    blocks_[last].same = id;
  }
}

void KvBlocks::release(HeldBlocks& held) {
  if (keeps_contents_) {
    for (std::uint32_t i = held.count; i-- > 0;) {
      Block& block = blocks_[held.ids[i]];
      PHOTONRAIL_CHECK(block.holders > 0);
      if (--block.holders == 0) append(held.ids[i]);
    }
    held.ids.clear();
  } else {
    free_ += held.count;
  }
  held.count = 0;
  PHOTONRAIL_CHECK(free_ <= total_);
}

// Blocks behind the prompt are the request's own.
std::uint32_t KvBlocks::shared(const HeldBlocks& held, const Content& content) const {
  const std::size_t prompt = std::min(held.ids.size(), content.shared_blocks());
  return static_cast<std::uint32_t>(std::count_if(held.ids.begin(), held.ids.begin() + static_cast<std::ptrdiff_t>(prompt),
                                                  [this](std::uint32_t id) { return blocks_[id].holders > 1; }));
}

bool KvBlocks::lend(std::uint64_t blocks) {
  if (blocks > free_) return false;
  lent_ += blocks;
  if (!keeps_contents_) {
    free_ -= blocks;
    return true;
  }
  for (; blocks > 0; --blocks) lent_ids_.push_back(take_front());
  return true;
}

void KvBlocks::take_back(std::uint64_t blocks) {
  PHOTONRAIL_CHECK(blocks <= lent_);
  lent_ -= blocks;
  if (!keeps_contents_) {
    free_ += blocks;
    return;
  }
  for (; blocks > 0; --blocks) {
    blocks_[lent_ids_.back()].holders = 0;
    append(lent_ids_.back());
    lent_ids_.pop_back();
  }
}

// Blocks that were never held stand before all others in the list: they are made when they are taken.
std::uint32_t KvBlocks::take_front() {
  if (blocks_.size() <= total_) {
    blocks_.push_back({.holders = 1});
    --free_;
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  const std::uint32_t id = blocks_[kEnd].after;
  PHOTONRAIL_CHECK(id != kEnd);
  unlink(id);
  forget(id);
  blocks_[id].holders = 1;
  return id;
}

void KvBlocks::unlink(std::uint32_t id) {
  blocks_[blocks_[id].before].after = blocks_[id].after;
  blocks_[blocks_[id].after].before = blocks_[id].before;
  --free_;
}

void KvBlocks::append(std::uint32_t id) {
  blocks_[id].before = blocks_[kEnd].before;
  blocks_[id].after = kEnd;
  blocks_[blocks_[kEnd].before].after = id;
  blocks_[kEnd].before = id;
  ++free_;
}

void KvBlocks::forget(std::uint32_t id) {
  Block& block = blocks_[id];
  if (!block.known) return;
  block.known = false;
  std::uint32_t before = first_with_.find(block.key);
  if (before == id) {
    if (block.same == kEnd) {
      first_with_.erase(block.key);
    } else {
      first_with_.set(block.key, block.same);
    }
  } else {
    while (blocks_[before].same != id) before = blocks_[before].same;
    blocks_[before].same = block.same;
  }
  block.same = kEnd;
}

}  // namespace photonrail::serving
