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
#include "compiler/cache/regex_maker.h"
#include "compiler/cache/regex_queue.h"
#include "compiler/emit/regex.h"
#include "program/write.h"

namespace edge::compiler {

/// When databases that are neither in memory nor in the disk cache are made.
enum class DatabaseTime : std::uint8_t {
  kBefore,  ///< before the program, which has all of them
  kAfter,   ///< a few at once; many after a program with empty sections in their place
  kNever,   ///< programs have empty sections in their place
};

/// Not thread-safe.
class RegexSets {
 public:
  /// `kept` must outlive this object; null: no disk cache. `queue`: for kAfter.
  RegexSets(DatabaseTime time, DiskCache* kept, RegexQueueOptions queue)
      : time_(time), maker_(queue.worker, kept), queue_(std::move(queue)) {}

  /// The work done for a compile.
  struct Counts {
    std::size_t built = 0;
    std::size_t from_disk = 0;
  };

  /// Compiles the sets of these hosts that are not cached, or defers them; adds to `counts`. \returns invalid patterns,
  /// including those of cached sets.
  Result<std::vector<PatternRefusal>> compile(const std::vector<program::SectionView>& hosts, Counts& counts);

  /// Takes finished deferred sets. \returns their ids. After an error of the worker nothing is deferred until it works
  /// again.
  std::set<std::uint64_t> take_made();

  /// Null when the set is unknown or was refused; empty while it has no database.
  program::BlobPtr database(std::uint64_t set_id) const;
  /// Returns whether the set is evaluated without a database.
  bool lacks_database(std::uint64_t set_id) const;

  /// Searches a set's database; nullopt on an engine error.
  std::optional<std::vector<bool>> scan(std::uint64_t set_id, std::size_t patterns, std::string_view subject);

  /// Drops all other sets, except those requested since the last call: an invalid host is tried with the same sets
  /// again whenever one of its routes changes.
  void keep(const std::set<std::uint64_t>& set_ids);
  /// Frees the scanners opened by `scan`.
  void close_scanners() { scanners_.clear(); }

 private:
  struct Unknown {
    std::uint64_t set_id;
    std::vector<std::string> patterns;
  };
  std::vector<Unknown> unknown_of(const std::vector<program::SectionView>& hosts,
                                  std::unordered_set<std::uint64_t>& used, Counts& counts);
  bool puts_off(const std::vector<Unknown>& sets) const;

  const DatabaseTime time_;
  RegexMaker maker_;
  std::unordered_map<std::uint64_t, MadeSet> sets_;
  std::unordered_set<std::uint64_t> lacking_;  ///< of sets_: without a database yet
  std::unordered_set<std::uint64_t> asked_;
  std::unordered_map<std::uint64_t, emit::RegexScanner> scanners_;
  bool worker_fails_ = false;
  RegexQueue queue_;
};

}  // namespace edge::compiler
