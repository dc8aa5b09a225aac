// What a task costs in memory once its trace is read.
#include "formats/chakra/chakra_support.hpp"
#include "photonrail/training.hpp"
#include "support/sanitizers.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

namespace photonrail {
namespace {

/// On the heap now, by the allocator's own books.
std::size_t on_the_heap() {
  const auto books = ::mallinfo2();
  return books.uordblks + books.hblkhd;
}

// A task has 40 bytes, its place among the successors 4, and 4 for each edge. Its name has some 30 more, which ranks with
// the same program share.
TEST(ChakraMemory, ATaskTakesLessThan64Bytes) {
#if PHOTONRAIL_SANITIZED
  GTEST_SKIP() << "SKIPPED, NOT CHECKED: the allocator of a sanitizer keeps no such books";
#endif
  TrainingSpec spec;
  spec.model = {"small", 16, 512, 2048, 8, 8, 4096};
  spec.parallelism = {2, 2, 4, false};
  spec.sequence = 256;
  spec.micro_batch = 1;
  spec.global_batch = 4 * 8;
  const test::Folder folder;
  (void)write_chakra(make_training_graph(spec), folder.path() / "job");
  const std::size_t before = on_the_heap();
  const TaskGraph graph =
      read_chakra({.prefix = folder.path() / "job", .comm_groups = folder.path() / "job.json", .dimensions = {}});
  const std::size_t after = on_the_heap();
  ASSERT_GT(graph.task_count(), 10'000u);
  EXPECT_GT(after, before);
  EXPECT_LT((after - before) / graph.task_count(), 64u);
}

}  // namespace
}  // namespace photonrail
