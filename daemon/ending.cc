#include "daemon/ending.h"

#include <csignal>

#include <pthread.h>

namespace edge::daemon {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void hold_ending_signals() {
  const sigset_t set = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int await_ending_signal() {
  const sigset_t set = ending_signals();
  int number = 0;
  while (::sigwait(&set, &number) != 0) {
  }
  return number;
}

void release_ending_signals() {
  const sigset_t set = ending_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace edge::daemon
