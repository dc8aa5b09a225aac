// The paged KV memory of one engine: which blocks are free, which are held, and whose content can be found again. The order
// of the free list is vLLM's (block_pool.py): it decides which content is lost first, and with it whether a preempted
// request finds its own blocks.
#pragma once

#include "serving/engine/content_index.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::serving {

/// What the blocks of one request contain, by number: keys of the prompt's blocks, which other requests may share, and
/// after them blocks that only this request has.
struct Content {
  std::span<const std::uint64_t> prompt;
  std::uint64_t request = 0;    ///< differs between requests
  std::uint32_t per_block = 1;  ///< keys of `prompt`

  [[nodiscard]] std::uint64_t key(std::uint32_t block) const {
    if (per_block > 1 && block < shared_blocks()) return joined_key(block);
    return block < shared_blocks() ? prompt[block] : own_key(block);
  }
  [[nodiscard]] std::size_t shared_blocks() const { return per_block == 1 ? prompt.size() : prompt.size() / per_block; }

 private:
  [[nodiscard]] std::uint64_t joined_key(std::uint32_t block) const;
  [[nodiscard]] std::uint64_t own_key(std::uint32_t block) const;
};

/// The blocks that one request holds.
struct HeldBlocks {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> ids{};  ///< in the order of its tokens; empty where contents are not kept
};

class KvBlocks {
 public:
  /// `keeps_contents`: with prefix caching. Without it blocks are only counted.
  KvBlocks(std::uint64_t blocks, bool keeps_contents);

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t free() const { return free_; }
  [[nodiscard]] bool keeps_contents() const { return keeps_contents_; }

  /// Free blocks go to another engine, whose content is lost; false where fewer are free.
  bool lend(std::uint64_t blocks);
  void take_back(std::uint64_t blocks);
  [[nodiscard]] std::uint64_t lent() const { return lent_; }

  /// The number of leading blocks, at most `most`, whose content is there.
  [[nodiscard]] std::uint32_t hits(const Content& content, std::uint32_t most) const;
  /// Gives the request its first `hits` blocks, which it shares, and fresh ones up to `blocks`. False, and nothing has
  /// changed, where that would leave fewer than `spare` blocks free. REQUIRES: it holds none.
  bool admit(HeldBlocks& held, const Content& content, std::uint32_t hits, std::uint32_t blocks, std::uint64_t spare);
  /// Gives it fresh blocks up to `blocks`. False, and nothing has changed, where there are not enough.
  bool grow(HeldBlocks& held, std::uint32_t blocks);
  /// The blocks [from, to) are full: their content can be found from now on.
  void fill(const HeldBlocks& held, const Content& content, std::uint32_t from, std::uint32_t to);
  /// The last block first, so that the beginning of a prompt is lost last. The content of a free block stays until it is
  /// taken.
  void release(HeldBlocks& held);
  /// The blocks that others hold too.
  [[nodiscard]] std::uint32_t shared(const HeldBlocks& held, const Content& content) const;
  /// No block's content is found from now on; who holds blocks keeps them.
  void forget_contents();

 private:
  struct Block {
    std::uint64_t key = 0;
    std::uint32_t holders = 0;
    bool known = false;  // its content can be found by `key`
    std::uint32_t before = 0;
    std::uint32_t after = 0;  // neighbours in the free list
    std::uint32_t same = 0;   // the next block with the same content, in the order in which they were filled
  };
  static constexpr std::uint32_t kEnd = 0;  // the number of the list's end, which is no block

  [[nodiscard]] std::uint32_t take_front();
  void unlink(std::uint32_t id);
  void append(std::uint32_t id);
  void forget(std::uint32_t id);

  std::uint64_t total_;
  std::uint64_t free_;
  std::uint64_t lent_ = 0;
  std::vector<std::uint32_t> lent_ids_;  // where contents are kept
  bool keeps_contents_;
  std::vector<Block> blocks_;  // the end of the list, and blocks that were ever held
  ContentIndex first_with_;
};

}  // namespace photonrail::serving
