// A kRegex section at run time: deserialised when it is first searched with, shared between the programs that hold it.
// One that is empty has no database yet: its patterns are searched for one by one, with the same outcome.
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

/// A deserialised database with the number of sets that hold it.
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

  /// Takes the bytes, which must outlive the set, the hash that the manifest lists for them, and the set's number in
  /// its program. \returns false when they are no database for this Hyperscan and CPU; says nothing of its inside.
  bool assign(std::span<const std::byte> serialised, const program::Hash& hash, std::uint32_t index);
  std::uint32_t index() const { return index_; }
  /// Whether it has neither a database nor patterns.
  bool lacks_patterns() const { return serialised_.empty() && patterns_ == nullptr; }
  /// Sets what a set without a database is searched for by.
  void put_patterns(std::vector<std::string> patterns);
  /// Shares what `other`, a set of the same bytes, has deserialised; nothing happens when that is nothing.
  void share(const RegexSet& other);

  /// Null when the bytes are damaged (they have another hash) or memory ran out.
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

  /// Begins to remember which of a program's sets the scratch has room for. Programs are told apart by their hashes:
  /// equal hash, equal databases.
  void remember(const program::Hash& program, std::size_t sets);

  /// Sets bit (first + id) of `hits` for each pattern found in `subject`.
  /// \returns false when that could not be told.
  bool scan(const program::Hash& program, RegexSet& set, std::string_view subject, std::uint32_t first,
            std::uint32_t count, std::uint64_t* hits);

 private:
  /// Which sets of a program fit; programs overlap in time while a new one is taken up.
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
