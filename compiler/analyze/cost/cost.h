// The cost of a program: bytes by host and kind, and upper bounds of the work for one request. The bounds are computed
// from the tables, without sending requests or measuring time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "program/read.h"

namespace edge::compiler::analyze {

/// Upper bounds of the work of a lookup.
struct LookupBound {
  std::uint32_t hosts = 0;         ///< host sections searched, one after the other
  std::uint32_t paths = 0;         ///< probes of path tables
  std::uint64_t conditions = 0;    ///< predicate nodes evaluated when every rule but the last fails
  std::uint32_t pattern_sets = 0;  ///< regex databases searched

  LookupBound& operator+=(const LookupBound& other) {
    hosts += other.hosts;
    paths += other.paths;
    conditions += other.conditions;
    pattern_sets += other.pattern_sets;
    return *this;
  }
};

struct HostCost {
  std::string pattern;  ///< `*` for every host
  std::string listener;
  std::size_t rules = 0;  ///< matches of rules, at every place in the tables
  std::size_t paths = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t native_bytes = 0;  ///< its part of a shard shared by `native_hosts` hosts
  std::size_t native_hosts = 0;
  std::uint64_t regex_bytes = 0;  ///< its databases; shared by hosts with the same patterns
  std::size_t patterns = 0;
  LookupBound bound;         ///< for a request to this host, including hosts that it falls through to
  std::string longest_path;  ///< a path on which `bound` is reached
};

struct RegexCost {
  std::string pattern;
  std::string host;
  std::string subject;               ///< `path`, `header:x-env`, `query:id`
  std::uint64_t positions = 0;       ///< of a match with every counted repeat expanded; the size of automata grows with
                                     ///< it
  std::uint64_t database_bytes = 0;  ///< of the database that contains it, with `database_patterns` patterns
  std::uint32_t database_patterns = 0;
};

struct Cost {
  std::uint64_t program_bytes = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t native_bytes = 0;
  std::uint64_t regex_bytes = 0;
  /// Returns the memory of an agent: the program, and the regex databases once more in unpacked form.
  std::uint64_t memory_bytes() const { return program_bytes + regex_bytes; }
  std::vector<HostCost> hosts;     ///< the one with the largest bound first
  std::vector<RegexCost> regexes;  ///< the one with the most positions first
};

Cost cost_of(const program::ProgramView& program);

}  // namespace edge::compiler::analyze
