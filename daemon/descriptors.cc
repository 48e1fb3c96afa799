#include "daemon/descriptors.h"

#include <sys/resource.h>

namespace edge::daemon {

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  // More than the kernel's own bound (fs.nr_open) is refused: then it stays as it is.
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace edge::daemon
