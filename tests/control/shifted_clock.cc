// Preloaded: a wall clock that is ahead by the seconds that stand in the file EDGE_SHIFTED_CLOCK.
//
// Clock and file are read by system calls: a sanitizer's runtime reads the clock before its interceptors of libc work,
// and what it intercepts would call back into it.
#include <sys/syscall.h>
#include <sys/time.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

namespace {

time_t shift() {
  const char* const path = std::getenv("EDGE_SHIFTED_CLOCK");
  if (path == nullptr) return 0;
  const int before = errno;
  const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  char text[32] = {};
  const long size = file < 0 ? 0 : ::syscall(SYS_read, file, text, sizeof(text));
  if (file >= 0) ::syscall(SYS_close, file);
  errno = before;
  time_t seconds = 0;
  for (long i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i) seconds = seconds * 10 + (text[i] - '0');
  return seconds;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int result = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += shift();
  return result;
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
