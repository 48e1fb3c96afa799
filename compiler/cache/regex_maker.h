// Makes the database of one set of patterns, or finds it in the disk cache. Part of `compile`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/cache/disk_cache.h"
#include "compiler/emit/regex.h"
#include "program/write.h"

namespace edge::compiler {

struct PatternRefusal {
  std::uint64_t set_id;
  std::uint32_t pattern;  ///< position in the set
  std::string message;
};

/// A database, or the reason why there is none.
struct MadeSet {
  program::BlobPtr database;
  std::vector<PatternRefusal> refusals{};
};

/// Not thread-safe.
class RegexMaker {
 public:
  /// `kept` must outlive this object; null: no disk cache.
  RegexMaker(std::string worker, DiskCache* kept) : compiler_(std::move(worker)), kept_(kept) {}

  /// Returns the database in the disk cache; null: none.
  program::BlobPtr find(const std::vector<std::string>& patterns) const;
  /// Compiles a set, and caches the result. kUnavailable when there is no worker.
  Result<MadeSet> make(std::uint64_t set_id, const std::vector<std::string>& patterns);

 private:
  Result<std::vector<PatternRefusal>> refusals_of(std::uint64_t set_id, const std::vector<std::string>& patterns,
                                                  emit::RegexOutcome outcome);

  emit::RegexCompiler compiler_;
  DiskCache* kept_;
};

}  // namespace edge::compiler
