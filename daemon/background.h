// A process that takes over from another as the main process of a systemd unit: ExecReload= starts it, it goes on
// behind the command that systemd waits for, and that command ends when it serves.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/flags.h"
#include "net/socket.h"

namespace edge::daemon {

inline constexpr std::string_view kHandOverFlag = "hand-over";

cli::Flag hand_over_flag();
/// With the flag, go_to_background; an Fd that is not open without.
Result<net::Fd> background_if_asked(const cli::Arguments& arguments);
/// Forks before any thread is started. The child returns; the parent waits until the descriptor that the child gets is
/// written to (exit 0) or closed without (exit 1), and never returns. \returns kUnavailable when it cannot fork.
Result<net::Fd> go_to_background();

}  // namespace edge::daemon
