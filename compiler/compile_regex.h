// The regex databases of all hosts, by content, kept between compiles. Part of `compile`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
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

  explicit RegexSets(std::string worker) : compiler_(std::move(worker)) {}

  /// Compiles the sets of these hosts that are not known yet; adds their number to `built`.
  /// \returns the patterns at fault, those of known sets too.
  Result<std::vector<Refusal>> compile(const std::vector<program::SectionView>& hosts, std::size_t& built);

  /// Null when the set is not known or was refused.
  program::BlobPtr database(std::uint64_t set_id) const;

  /// Searches a set's database; nullopt on a fault of the engine.
  std::optional<std::vector<bool>> scan(std::uint64_t set_id, std::size_t patterns, std::string_view subject);

  /// Forgets all other sets.
  void keep(const std::unordered_set<std::uint64_t>& set_ids);
  /// Frees what `scan` opened.
  void close_scanners() { scanners_.clear(); }

 private:
  /// A database, or why there is none.
  struct Known {
    program::BlobPtr database;
    std::vector<Refusal> refusals;
  };
  Result<Known> judge(std::uint64_t set_id, const std::vector<std::string>& patterns, emit::RegexOutcome outcome);

  emit::RegexCompiler compiler_;
  std::unordered_map<std::uint64_t, Known> sets_;
  std::unordered_map<std::uint64_t, emit::RegexScanner> scanners_;
};

}  // namespace edge::compiler
