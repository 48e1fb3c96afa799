// Compiles path and header patterns to Hyperscan databases, in a worker process with limits on CPU time and memory.
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

/// The result for one set of patterns: a serialised database, or the invalid pattern.
struct RegexOutcome {
  program::BlobPtr database;  ///< null on failure
  std::uint32_t failed_pattern = 0;
  std::string message;  ///< Hyperscan's message, or the limit that was exceeded
};

/// Returns Hyperscan's version: another one cannot read its databases.
std::string_view regex_engine_version();

/// Returns the content id of a set: its section id. Never 0.
std::uint64_t regex_set_id(const std::vector<std::string>& patterns);

/// Divides the patterns of one host on one subject into sets, in order: returns the sizes of the sets. Up to 128 are
/// one set. More are divided at boundaries chosen by the patterns' own texts, so that one that is added, removed or
/// changed affects only one or two sets.
std::vector<std::size_t> regex_set_sizes(const std::vector<std::string>& patterns);

/// Limits for one set. Regular expressions come from users: a small one can take hours.
struct RegexLimits {
  unsigned cpu_seconds = 10;
  std::chrono::milliseconds wall = std::chrono::seconds(60);
  std::size_t memory_bytes = std::size_t{1} << 30;
};

/// A database ready for searching. Not thread-safe.
class RegexScanner {
 public:
  /// kDataLoss when the bytes are not a database of this Hyperscan.
  static Result<RegexScanner> open(std::span<const std::byte> database);
  RegexScanner(RegexScanner&&) noexcept;
  RegexScanner& operator=(RegexScanner&&) noexcept;
  ~RegexScanner();

  /// Returns for each pattern of the database whether it is found in `subject`.
  Result<std::vector<bool>> scan(std::size_t patterns, std::string_view subject);

 private:
  struct Impl;
  explicit RegexScanner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Owns the worker process; started at first use, replaced when it dies or exceeds a limit. Not thread-safe.
class RegexCompiler {
 public:
  /// `worker`: path of the program; empty: `edge-regexc` next to the running executable.
  explicit RegexCompiler(std::string worker, RegexLimits limits = {});
  ~RegexCompiler();

  /// Ids in the database are positions in `patterns`; flags SINGLEMATCH without UTF8; generic platform. kUnavailable
  /// when the worker cannot be started.
  Result<std::vector<RegexOutcome>> compile(const std::vector<std::vector<std::string>>& sets);

  /// RegexScanner for a single subject, for the proof.
  static Result<std::vector<bool>> scan(std::span<const std::byte> database, std::size_t patterns,
                                        std::string_view subject);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::compiler::emit
