#include "base/os/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <unistd.h>

namespace edge {

bool keep_capabilities(std::uint64_t kept) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  // Where there is no right to shrink it, no_new_privs stands before it.
  for (unsigned long one = 0; ::prctl(PR_CAPBSET_READ, one, 0, 0, 0) >= 0; ++one) {
    if ((kept >> one & 1) == 0) ::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  }
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  for (unsigned word = 0; word < _LINUX_CAPABILITY_U32S_3; ++word) {
    const auto bits = static_cast<std::uint32_t>(kept >> (32 * word));
    data[word].permitted &= bits;
    data[word].effective &= bits;
    data[word].inheritable &= bits;
  }
  // The ambient set follows: it has nothing that is not permitted and inheritable.
  return ::syscall(SYS_capset, &header, data) == 0;
}

}  // namespace edge
