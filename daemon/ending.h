// How a daemon ends: by which signals, and with what.
#pragma once

namespace edge::daemon {

/// SIGTERM and SIGINT are held for `await_ending_signal`, in this thread and in all that it starts: call it before
/// there are others. A peer that went away is an error of a write, not a signal (SIGPIPE); so is a file that may not
/// grow (SIGXFSZ).
void block_ending_signals();
/// Blocks until one of them comes. \returns its number.
int await_ending_signal();
/// The same for one that this process did not send to itself: whoever ends a daemon by a signal from within is not a
/// second one who lost patience.
int await_ending_signal_of_others();
/// From now on they end the process at once.
void release_ending_signals();

/// OpenSSL stays up until the process is gone. By itself it is taken down as `main` returns, while a thread of gRPC,
/// which nobody can wait for, may be at its last call to it. Call it first in `main`: OpenSSL's first use decides.
void keep_openssl_up();

}  // namespace edge::daemon
