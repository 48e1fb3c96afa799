// Preloaded: a wall clock that is ahead by the seconds that stand in the file EDGE_SHIFTED_CLOCK.
//
// Clock and file are read by system calls of our own: a sanitizer's runtime reads the clock before its interceptors of
// libc work, and what it intercepts would call back into it. Abseil, by which gRPC waits, tells the kernel until when
// by the wall clock (FUTEX_CLOCK_REALTIME): there the deadline is shifted back.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

namespace {

constexpr long kLastError = -4095;

/// \returns a negative error number where it fails.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return number;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
#error "no system calls of this processor"
#endif
}

time_t shift() {
  const char* const path = std::getenv("EDGE_SHIFTED_CLOCK");
  if (path == nullptr) return 0;
  const long file = call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  char text[32] = {};
  const long size = file < 0 ? 0 : call(SYS_read, file, reinterpret_cast<long>(text), sizeof(text));
  if (file >= 0) call(SYS_close, file);
  time_t seconds = 0;
  for (long i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i) seconds = seconds * 10 + (text[i] - '0');
  return seconds;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = call(SYS_clock_gettime, clock, reinterpret_cast<long>(now));
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  if (clock == CLOCK_REALTIME) now->tv_sec += shift();
  return 0;
}

extern "C" time_t time(time_t* now) noexcept {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  if (now != nullptr) *now = wall.tv_sec;
  return wall.tv_sec;
}

extern "C" int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  *now = {wall.tv_sec, wall.tv_nsec / 1000};
  return 0;
}

extern "C" long syscall(long number, ...) noexcept {
  long given[6];
  va_list list;
  va_start(list, number);
  for (long& one : given) one = va_arg(list, long);
  va_end(list);
  timespec until{};
  constexpr long kUntilWall = FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME;
  if (number == SYS_futex && (given[1] & ~FUTEX_PRIVATE_FLAG) == kUntilWall && given[3] != 0) {
    until = *reinterpret_cast<const timespec*>(given[3]);
    until.tv_sec -= shift();
    given[3] = reinterpret_cast<long>(&until);
  }
  const long result = call(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  if (result < 0 && result >= kLastError) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
