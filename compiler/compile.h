// The compiler: the list of its stages, nothing else.
//
//   SourceText -> ResourceSet -> LinkedConfig -> MatchIr -> Program
//
// A Compiler keeps what it learned, so that a second compile of almost the same input costs what the difference costs.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "program/endpoints.h"
#include "program/format.h"
#include "program/read.h"
#include "program/sign.h"

namespace edge::compiler {

struct CompileOptions {
  program::Target target = program::Target::kX8664V2;
  /// Signs when given.
  const program::SigningKey* key = nullptr;
  /// Proves every program on itself before it is returned. Off only in benchmarks of single stages.
  bool prove = true;
  /// Program of the regex worker; empty: `edge-regexc` beside the running executable.
  std::string regex_worker = {};
};

/// What ran, for tests of incrementality and for `--timings`.
struct CompileStats {
  std::size_t hosts = 0;
  std::size_t hosts_lowered = 0;
  std::size_t native_shards_built = 0;
  std::size_t regex_sets_built = 0;
  std::chrono::nanoseconds lower{0}, emit{0}, native{0}, regex{0}, prove{0}, assemble{0};
};

struct Artifact {
  std::shared_ptr<const std::vector<std::byte>> bytes;
  program::Hash hash{};
  CompileStats stats;
};

class Compiler {
 public:
  explicit Compiler(CompileOptions options);
  ~Compiler();
  Compiler(Compiler&&) noexcept;
  Compiler& operator=(Compiler&&) noexcept;

  /// Compiles a whole configuration. Hosts whose lowered form is what it was are taken from the last call. Routes at
  /// fault are left out and reported; the others are served. nullopt only when nothing can be vouched for (a failed
  /// proof, an internal fault): then `diagnostics` says why.
  std::optional<Artifact> compile(const LinkedConfig& config, Diagnostics& diagnostics);

  /// The same after one route was replaced in `config` (same index, nothing else changed): lowers that route's old and
  /// new hosts alone. Precondition: the last call succeeded on a `config` that differs in `route` only.
  std::optional<Artifact> recompile(const LinkedConfig& config, std::uint32_t route, Diagnostics& diagnostics);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::compiler
