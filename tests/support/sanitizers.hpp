// Whether the program is compiled with the address or the thread sanitizer: shadow memory takes terabytes of addresses, and
// runs are several times slower. GCC and clang say it in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PHOTONRAIL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PHOTONRAIL_SANITIZED 1
#endif
#endif
#ifndef PHOTONRAIL_SANITIZED
#define PHOTONRAIL_SANITIZED 0
#endif
