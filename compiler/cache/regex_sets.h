// The regex databases of all hosts, by content, kept between compiles. Part of `compile`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "compiler/cache/disk_cache.h"
#include "compiler/emit/regex.h"
#include "program/write.h"

namespace edge::compiler {

/// Not thread-safe.
class RegexSets {
 public:
  struct Refusal {
    std::uint64_t set_id;
    std::uint32_t pattern;  ///< position in the set
    std::string message;
  };

  /// `kept` outlives this object; null: nothing is kept on disk.
  RegexSets(std::string worker, DiskCache* kept) : compiler_(std::move(worker)), kept_(kept) {}

  /// What was done for a compile.
  struct Counts {
    std::size_t built = 0;
    std::size_t from_disk = 0;
  };

  /// Compiles the sets of these hosts that are not known yet, here or on disk; adds to `counts`.
  /// \returns the patterns at fault, those of known sets too.
  Result<std::vector<Refusal>> compile(const std::vector<program::SectionView>& hosts, Counts& counts);

  /// Null when the set is not known or was refused.
  program::BlobPtr database(std::uint64_t set_id) const;

  /// Searches a set's database; nullopt on a fault of the engine.
  std::optional<std::vector<bool>> scan(std::uint64_t set_id, std::size_t patterns, std::string_view subject);

  /// Forgets all other sets, but for those that were asked for since the last call: a host at fault is tried with the
  /// same sets again whenever one of its routes changes.
  void keep(const std::set<std::uint64_t>& set_ids);
  /// Frees what `scan` opened.
  void close_scanners() { scanners_.clear(); }

 private:
  /// A database, or why there is none.
  struct Known {
    program::BlobPtr database;
    std::vector<Refusal> refusals;
  };
  Result<Known> validate(std::uint64_t set_id, const std::vector<std::string>& patterns, emit::RegexOutcome outcome);

  emit::RegexCompiler compiler_;
  DiskCache* kept_;
  std::unordered_map<std::uint64_t, Known> sets_;
  std::unordered_set<std::uint64_t> asked_;
  std::unordered_map<std::uint64_t, emit::RegexScanner> scanners_;
};

}  // namespace edge::compiler
