#include "interpreter_lock.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace photonrail::python {

namespace {

// A policy that computes for longer at the end of the program is left to its fate.
constexpr auto kMaxWaitAtEnd = std::chrono::seconds(10);

std::atomic<int> g_inside{0};
std::atomic<bool> g_ends{false};
std::atomic<std::thread::id> g_ending_thread{};

[[noreturn]] void wait_for_the_end_of_the_process() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void end() {
  g_ending_thread = std::this_thread::get_id();
  g_ends = true;
  const py::gil_scoped_release unlock;
  const auto until = std::chrono::steady_clock::now() + kMaxWaitAtEnd;
  while (g_inside > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

InsidePython::InsidePython() {
  ++g_inside;  // before the look at g_ends, so that end() either is seen or sees this thread
  if (!g_ends || g_ending_thread.load() == std::this_thread::get_id()) return;
  --g_inside;
  wait_for_the_end_of_the_process();
}

InsidePython::~InsidePython() { --g_inside; }

void bind_end() { py::module_::import("atexit").attr("register")(py::cpp_function(&end)); }

}  // namespace photonrail::python
