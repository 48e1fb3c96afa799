// A kRegex section at run time: deserialised at the first search, shared between the programs that have it. An empty
// section has no database yet: its patterns are searched for one by one, with the same results.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "program/read.h"
#include "runtime/match/pattern_list.h"

struct hs_database;
struct hs_scratch;

namespace edge::runtime {

/// A deserialised database with its reference count.
struct RegexDatabase {
  hs_database* database;
  std::atomic<std::uint32_t> holders;
};

/// Thread-safe.
class RegexSet {
 public:
  RegexSet() = default;
  ~RegexSet();
  RegexSet(const RegexSet&) = delete;
  RegexSet& operator=(const RegexSet&) = delete;

  /// Sets the bytes, which must outlive the set, their hash from the manifest, and the set's number in its program.
  /// \returns false when they are not a database for this Hyperscan version and CPU; the contents are not checked.
  bool assign(std::span<const std::byte> serialised, const program::Hash& hash, std::uint32_t index);
  std::uint32_t index() const { return index_; }
  /// Returns whether the set has neither a database nor patterns.
  bool lacks_patterns() const { return serialised_.empty() && patterns_ == nullptr; }
  /// Sets the patterns of a set without a database.
  void put_patterns(std::vector<std::string> patterns);
  /// Shares the database that `other`, a set of the same bytes, has deserialised, if any.
  void share(const RegexSet& other);

  /// Returns the database; null when the bytes are damaged (their hash differs) or memory ran out.
  const hs_database* database();
  /// Null when there is a database.
  PatternList* patterns() const { return patterns_.get(); }

 private:
  std::span<const std::byte> serialised_;
  program::Hash hash_{};
  std::uint32_t index_ = 0;
  std::atomic<RegexDatabase*> loaded_{nullptr};
  std::shared_ptr<PatternList> patterns_;
};

/// Hyperscan's working memory of one thread.
class RegexScratch {
 public:
  RegexScratch() = default;
  ~RegexScratch();
  RegexScratch(const RegexScratch&) = delete;
  RegexScratch& operator=(const RegexScratch&) = delete;

  /// Starts to track which of a program's sets the scratch is large enough for. Programs are identified by hash: equal
  /// hash, equal databases.
  void remember(const program::Hash& program, std::size_t sets);

  /// Sets bit (first + id) of `hits` for each pattern found in `subject`. \returns false when the search failed.
  bool scan(const program::Hash& program, RegexSet& set, std::string_view subject, std::uint32_t first,
            std::uint32_t count, std::uint64_t* hits);

 private:
  /// The sets of a program that fit; two programs are tracked, since they overlap in time during an update.
  struct Known {
    program::Hash program{};
    std::vector<bool> fits;
  };
  bool make_fit(const program::Hash& program, std::size_t index, const hs_database* database);
  bool grow(const hs_database* database);

  hs_scratch* scratch_ = nullptr;
  Known known_[2];
  std::size_t newest_ = 0;
};

}  // namespace edge::runtime
