// The allocators that come with the library, one function each.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

namespace photonrail::slices {

AllocatorFactory first_fit();
AllocatorFactory best_fit();
AllocatorFactory hilbert_windows();
AllocatorFactory fold_only();
AllocatorFactory cubes();
AllocatorFactory lined_up_cubes();
AllocatorFactory folded_cubes();
AllocatorFactory aligned_blocks();
AllocatorFactory photonic_servers();
AllocatorFactory k_hop_line();
AllocatorFactory switched_domains();

}  // namespace photonrail::slices
