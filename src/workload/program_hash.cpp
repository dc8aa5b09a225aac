#include "workload/program_hash.hpp"

namespace photonrail::workload {

// The finalizer of splitmix64 (Steele, Lea and Flood 2014) on what mostly tells tasks apart. It decides speed only.
std::uint64_t hash_tasks(const Program& program) {
  std::uint64_t hash = program.tasks().size();
  for (const Task& task : program.tasks()) {
    hash ^= static_cast<std::uint64_t>(task.time().value_or(Duration{task.size().count + task.memory().count}).count()) ^
            task.slot ^ (std::uint64_t{task.waits} << 32) ^ (std::uint64_t{task.tag} << 40);
    hash *= 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace photonrail::workload
