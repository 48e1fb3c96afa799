// Path and header patterns as Hyperscan databases, compiled in a worker process with bounds on CPU time and memory.
#pragma once

#include <chrono>
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
  program::BlobPtr database;  ///< null on failure
  std::uint32_t failed_pattern = 0;
  std::string message;  ///< Hyperscan's words, or the limit that was hit
};

/// Of Hyperscan: another reads no database of this one.
std::string_view regex_engine_version();

/// Content id of a set: its section id. Never 0.
std::uint64_t regex_set_id(const std::vector<std::string>& patterns);

/// How the patterns of one host on one subject are divided into sets, in order: the sizes of the sets. Up to 128 are
/// one set. More are divided behind patterns that their own texts choose, so that one that comes, goes or changes
/// leaves all sets but one or two as they were.
std::vector<std::size_t> regex_set_sizes(const std::vector<std::string>& patterns);

/// What one set may cost. Regular expressions come from users: a small one can ask for hours.
struct RegexLimits {
  unsigned cpu_seconds = 10;
  std::chrono::milliseconds wall = std::chrono::seconds(60);
  std::size_t memory_bytes = std::size_t{1} << 30;
};

/// A database that was made ready to be searched with. Not thread-safe.
class RegexScanner {
 public:
  /// kDataLoss when the bytes are no database of this Hyperscan.
  static Result<RegexScanner> open(std::span<const std::byte> database);
  RegexScanner(RegexScanner&&) noexcept;
  RegexScanner& operator=(RegexScanner&&) noexcept;
  ~RegexScanner();

  /// Whether each pattern of the database is found in `subject`, as bits.
  Result<std::vector<bool>> scan(std::size_t patterns, std::string_view subject);

 private:
  struct Impl;
  explicit RegexScanner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Owns the worker process; started on first use, replaced when it dies or exceeds a limit. Not thread-safe.
class RegexCompiler {
 public:
  /// `worker`: the program to run; empty: `edge-regexc` beside the running executable.
  explicit RegexCompiler(std::string worker, RegexLimits limits = {});
  ~RegexCompiler();

  /// Ids in the database are positions in `patterns`; flags SINGLEMATCH without UTF8; generic platform. kUnavailable
  /// when the worker cannot be run at all.
  Result<std::vector<RegexOutcome>> compile(const std::vector<std::vector<std::string>>& sets);

  /// RegexScanner for a single subject. For the proof.
  static Result<std::vector<bool>> scan(std::span<const std::byte> database, std::size_t patterns,
                                        std::string_view subject);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::compiler::emit
