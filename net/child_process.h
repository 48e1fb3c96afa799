// Runs another program: starts it, takes its output, kills it with its descendants at the deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/loop.h"
#include "net/task.h"

namespace edge::net {

/// What a program has as its standard input.
enum class ProgramInput : std::uint8_t { kNone, kTerminal, kText };

struct ProgramCall {
  std::vector<std::string> words;        ///< the program, looked for in PATH, and its arguments
  std::vector<std::string> environment;  ///< `NAME=value`
  ProgramInput input = ProgramInput::kNone;
  std::string text{};  ///< for kText: at most 64 KiB
  Time until{};        ///< then it is killed: with a terminal only the process itself
  std::size_t max_output = std::size_t{1} << 20;
};

enum class ProgramEnd : std::uint8_t { kExited, kSignal, kNotStarted, kTimeout, kTooMuchOutput, kCancelled };

struct ProgramOutcome {
  ProgramEnd end = ProgramEnd::kCancelled;
  int number = 0;  ///< status, signal, or errno
  std::string output{};
};

/// Returns the environment of this process.
std::vector<std::string> current_environment();

/// On the loop's thread, which is never blocked.
Task<ProgramOutcome> run_program(Loop& loop, Waiter& waiter, ProgramCall call);

}  // namespace edge::net
