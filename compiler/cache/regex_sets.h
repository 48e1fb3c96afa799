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

/// When the databases are made that are neither known nor kept on disk.
enum class DatabaseTime : std::uint8_t {
  kBefore,  ///< before the program: it has all of them
  kAfter,   ///< few at once; many after a program that has empty sections in their place
  kNever,   ///< every program has empty sections in their place
};

/// Not thread-safe.
class RegexSets {
 public:
  /// `kept` outlives this object; null: nothing is kept on disk. `queue`: of kAfter.
  RegexSets(DatabaseTime time, DiskCache* kept, RegexQueueOptions queue)
      : time_(time), maker_(queue.worker, kept), queue_(std::move(queue)) {}

  /// What was done for a compile.
  struct Counts {
    std::size_t built = 0;
    std::size_t from_disk = 0;
  };

  /// Compiles the sets of these hosts that are not known yet, here or on disk, or puts it off; adds to `counts`.
  /// \returns the patterns at fault, those of known sets too.
  Result<std::vector<PatternRefusal>> compile(const std::vector<program::SectionView>& hosts, Counts& counts);

  /// Takes what was put off and has been made since. \returns the sets that are known now. After a fault of the
  /// worker nothing is put off until it works again.
  std::set<std::uint64_t> take_made();

  /// Null when the set is not known or was refused; empty while it has none.
  program::BlobPtr database(std::uint64_t set_id) const;
  /// Whether the set is decided without a database.
  bool lacks_database(std::uint64_t set_id) const;

  /// Searches a set's database; nullopt on a fault of the engine.
  std::optional<std::vector<bool>> scan(std::uint64_t set_id, std::size_t patterns, std::string_view subject);

  /// Forgets all other sets, but for those that were asked for since the last call: a host at fault is tried with the
  /// same sets again whenever one of its routes changes.
  void keep(const std::set<std::uint64_t>& set_ids);
  /// Frees what `scan` opened.
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
  std::unordered_set<std::uint64_t> lacking_;  ///< of sets_: a database is yet to be made
  std::unordered_set<std::uint64_t> asked_;
  std::unordered_map<std::uint64_t, emit::RegexScanner> scanners_;
  bool worker_fails_ = false;
  RegexQueue queue_;
};

}  // namespace edge::compiler
