#include "daemon/background.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace edge::daemon {

cli::Flag hand_over_flag() {
  return {.name = kHandOverFlag,
          .help =
              "With --upgrade-socket: take over, go on in the background, and return once the new process serves; "
              "for ExecReload= of a systemd unit"};
}

Result<net::Fd> background_if_asked(const cli::Arguments& arguments) {
  if (!arguments.has(kHandOverFlag)) return net::Fd();
  if (arguments.has("upgrade-socket")) return go_to_background();
  return Error{ErrorCode::kInvalidArgument, "--hand-over needs --upgrade-socket"};
}

Result<net::Fd> go_to_background() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{ErrorCode::kUnavailable, std::string("pipe: ") + std::strerror(errno)};
  net::Fd reader(ends[0]);
  net::Fd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return Error{ErrorCode::kUnavailable, std::string("fork: ") + std::strerror(errno)};
  if (child == 0) return writer;
  writer = net::Fd();
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::read(reader.get(), &byte, 1);
  } while (got < 0 && errno == EINTR);
  ::_exit(got == 1 ? cli::kExitOk : cli::kExitFindings);
}

}  // namespace edge::daemon
