// A library that is loaded before all others (LD_PRELOAD): one call of operator new or of write() fails.
//     PHOTONRAIL_FAIL_NEW=n    the n-th operator new after main() has begun throws std::bad_alloc
//     PHOTONRAIL_FAIL_WRITE=n  the n-th write to a file finds no room, and so does each after it
//     PHOTONRAIL_SHORT_WRITE=n the n-th write to a file takes half of the bytes
// Streams of the terminal always work, so that the command can say what went wrong.
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

long number_in(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

const long fail_new = number_in("PHOTONRAIL_FAIL_NEW");
const long fail_write = number_in("PHOTONRAIL_FAIL_WRITE");
const long short_write = number_in("PHOTONRAIL_SHORT_WRITE");
std::atomic<bool> in_main{false};
std::atomic<long> news{0};
std::atomic<long> writes{0};

void* allocate(std::size_t bytes) {
  if (fail_new > 0 && in_main && ++news == fail_new) throw std::bad_alloc();
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  in_main = true;
  return real_main(argc, argv, environment);
}

// How many of the bytes a call may write; -1: it fails.
ssize_t allowed(int file, std::size_t bytes) {
  if (file <= STDERR_FILENO || bytes == 0) return static_cast<ssize_t>(bytes);
  const long call = ++writes;
  if (fail_write > 0 && call >= fail_write) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<ssize_t>(short_write == call && bytes > 1 ? bytes / 2 : bytes);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" {

int __libc_start_main(Main begin, int argc, char** argv, void (*init)(), void (*fini)(), void (*unload)(), void* stack) {
  static const auto real = next<int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*)>("__libc_start_main");
  real_main = begin;
  return real(counted_main, argc, argv, init, fini, unload, stack);
}

ssize_t write(int file, const void* data, std::size_t bytes) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  const ssize_t most = allowed(file, bytes);
  return most < 0 ? -1 : real(file, data, static_cast<std::size_t>(most));
}

ssize_t writev(int file, const iovec* parts, int count) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int)>("writev");
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  const ssize_t most = allowed(file, bytes);
  if (most < 0) return -1;
  if (static_cast<std::size_t>(most) == bytes) return real(file, parts, count);
  iovec first = parts[0];
  if (first.iov_len > static_cast<std::size_t>(most)) first.iov_len = static_cast<std::size_t>(most);
  return real(file, &first, 1);
}

ssize_t pwrite64(int file, const void* data, std::size_t bytes, off64_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off64_t)>("pwrite64");
  const ssize_t most = allowed(file, bytes);
  return most < 0 ? -1 : real(file, data, static_cast<std::size_t>(most), at);
}

}  // extern "C"
