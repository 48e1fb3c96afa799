// A publication ready to be sent: a program's section table, so that the difference to an agent's program is found by
// walking two tables, and separately the values. Immutable, except for cached differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/format/file.h"
#include "program/read.h"
#include "program/values/value_set.h"

namespace edge::controller {

/// The section table of a program, without its bytes: agents that lag behind pin only this.
struct Outline {
  program::Hash program{};
  program::FileHeader header{};
  program::SignatureBlock signature{};
  std::vector<program::SectionEntry> entries;
};

/// Checks only what this code relies on, less than a reader does. kInvalidArgument when the bytes are not a program.
Result<std::shared_ptr<const Outline>> outline_of(std::span<const std::byte> program);

/// The difference between two programs.
struct Difference {
  std::vector<std::uint32_t> entries;  ///< entries of the new program that are missing or different in the old one
  std::vector<std::uint32_t> sent;     ///< of these, those whose bytes the agent does not have under any name
  std::vector<std::uint32_t> removed;  ///< entries of the old program
};

/// Computes the difference. `base` null: everything. `held`, ascending: hashes that need not be sent.
Difference difference(const Outline* base, const Outline& next, std::span<const program::Hash> held);

/// Endpoints and secrets.
struct Values {
  std::uint64_t version = 0;
  program::ValueSet set;
  std::size_t bytes = 0;       ///< approximate memory, most of it shared between versions
  bool lacks_secrets = false;  ///< Published::lacks_secrets

  /// Whether an agent that runs something keeps what it has instead.
  bool are_for(bool runs_something) const { return !lacks_secrets || !runs_something; }
};

/// Versions of programs and of values are from one sequence.
struct ProgramVersion {
  std::uint64_t version = 0;
  std::uint64_t values = 0;  ///< version of the values that the program needs, and must not run without
};

class Publication {
 public:
  /// kInvalidArgument as for `outline_of`.
  static Result<std::shared_ptr<const Publication>> make(std::shared_ptr<const std::vector<std::byte>> program,
                                                         ProgramVersion version);

  const Outline& outline() const { return *outline_; }
  const std::shared_ptr<const Outline>& shared_outline() const { return outline_; }
  const std::shared_ptr<const std::vector<std::byte>>& bytes() const { return bytes_; }
  const ProgramVersion& version() const { return version_; }

  /// Returns the difference, computed once for all agents that run `base`.
  std::shared_ptr<const Difference> from(const Outline& base) const;

 private:
  Publication() = default;

  std::shared_ptr<const std::vector<std::byte>> bytes_;
  std::shared_ptr<const Outline> outline_;
  ProgramVersion version_;
  mutable std::mutex mutex_;
  mutable std::map<program::Hash, std::shared_ptr<const Difference>> differences_;  ///< by base; guarded by mutex_
};

}  // namespace edge::controller
