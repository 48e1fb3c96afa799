#include "base/os/capabilities.h"

#include <sys/wait.h>

#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/file.h"

namespace edge {
namespace {

constexpr unsigned kBindService = 10;

/// Whether the sets of /proc/self/status are within `kept`.
bool has_at_most(std::uint64_t kept) {
  const auto status = read_file("/proc/self/status", 64 << 10);
  if (!status || status->find("\nNoNewPrivs:\t1\n") == std::string::npos) return false;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    const std::string name = std::string("\n") + set + ":\t";
    const std::size_t at = status->find(name);
    if (at == std::string::npos) return false;
    if ((std::stoull(status->substr(at + name.size(), 16), nullptr, 16) & ~kept) != 0) return false;
  }
  return true;
}

/// The exit code of a child that keeps these alone.
int of_child(std::uint64_t kept) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(keep_capabilities(kept) && has_at_most(kept) ? 0 : 1);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Capabilities, OthersThanThoseThatAreKeptAreGone) {
  EXPECT_EQ(of_child(0), 0);
  EXPECT_EQ(of_child(std::uint64_t{1} << kBindService), 0);
}

}  // namespace
}  // namespace edge
