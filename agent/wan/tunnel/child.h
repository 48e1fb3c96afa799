// Programs of the system that the SD-WAN needs: one that runs beside the agent and ends with it (wireguard-go), and
// those that do one thing (nft, tc).
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace edge::agent::wan {

/// Returns the path of a program, searched where systems have programs of administrators; empty: it is not there.
std::string find_system_program(std::string_view name);

/// Runs a program with `input` as its standard input, for ten seconds at most. Error: what it wrote, or why it did not
/// run; kNotFound: it is not there.
Result<std::string> run_program(const std::string& path, const std::vector<std::string>& arguments,
                                std::string_view input);

/// A program that the kernel kills when the thread that started it ends, also by a crash of the process.
class Child {
 public:
  static Result<Child> start(const std::string& path, const std::vector<std::string>& arguments);
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&& other) noexcept;
  /// Ends it, and waits until it has.
  ~Child() { end(); }

  bool running();
  void end();

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

}  // namespace edge::agent::wan
