// Path and header patterns as Hyperscan databases, compiled in a worker process with bounds on CPU time and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/write.h"

namespace edge::compiler::emit {

/// What became of one set of patterns: a serialised database, or the pattern at fault.
struct RegexOutcome {
  program::BlobPtr database;       ///< null on failure
  std::uint32_t failed_pattern = 0;
  std::string message;             ///< Hyperscan's words, or the limit that was hit
};

/// Content id of a set: its section id. Never 0.
std::uint64_t regex_set_id(const std::vector<std::string>& patterns);

/// Owns the worker process; started on first use, replaced when it dies or exceeds a limit. Not thread-safe.
class RegexCompiler {
 public:
  /// `worker`: the program to run; empty: `edge-regexc` beside the running executable.
  explicit RegexCompiler(std::string worker);
  ~RegexCompiler();

  /// Ids in the database are positions in `patterns`; flags SINGLEMATCH without UTF8; generic platform. kUnavailable
  /// when the worker cannot be run at all.
  Result<std::vector<RegexOutcome>> compile(const std::vector<std::vector<std::string>>& sets);

  /// Whether each pattern of a database is found in `subject`, as bits. For the proof.
  static Result<std::vector<bool>> scan(std::span<const std::byte> database, std::size_t patterns,
                                        std::string_view subject);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::compiler::emit
