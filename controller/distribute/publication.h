// What is published, ready to be sent: the table of a program's sections, so that for each agent the difference to what
// it has is a walk over two tables, and apart from it the values. Immutable but for what is remembered of differences.
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

/// The table of a program. Outlives its bytes: an agent that is behind pins this much.
struct Outline {
  program::Hash program{};
  program::FileHeader header{};
  program::SignatureBlock signature{};
  std::vector<program::SectionEntry> entries;
};

/// Checks what it relies on, which is less than a reader does. kInvalidArgument when these bytes are no program.
Result<std::shared_ptr<const Outline>> outline_of(std::span<const std::byte> program);

/// From one program to another.
struct Difference {
  std::vector<std::uint32_t> entries;  ///< of the new program's, that the old one has not or has otherwise
  std::vector<std::uint32_t> sent;     ///< of these, whose bytes the agent has under no name
  std::vector<std::uint32_t> removed;  ///< of the old program's
};

/// `base` null: everything. `held`, ascending: hashes that need not be sent.
Difference difference(const Outline* base, const Outline& next, std::span<const program::Hash> held);

/// Endpoints and secrets.
struct Values {
  std::uint64_t version = 0;
  program::ValueSet set;
  std::size_t bytes = 0;  ///< memory, about, of which versions share most
};

/// Of a program. Versions of programs and of values are drawn from one row.
struct ProgramVersion {
  std::uint64_t version = 0;
  std::uint64_t values = 0;  ///< version of the values that have all it needs, and without which it must not run
};

class Publication {
 public:
  /// kInvalidArgument as of `outline_of`.
  static Result<std::shared_ptr<const Publication>> make(std::shared_ptr<const std::vector<std::byte>> program,
                                                         ProgramVersion version);

  const Outline& outline() const { return *outline_; }
  const std::shared_ptr<const Outline>& shared_outline() const { return outline_; }
  const std::shared_ptr<const std::vector<std::byte>>& bytes() const { return bytes_; }
  const ProgramVersion& version() const { return version_; }

  /// Made once for all agents that are at `base`, which is most of them.
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
