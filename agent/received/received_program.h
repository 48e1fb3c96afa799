// Assembles a program from a controller's messages and the sections of the running one.
//
// The messages are untrusted: memory is limited by the program's own section table, whose hash must equal the announced
// name before any section is accepted. The installer checks signature and sections, as for a program from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "program/format/file.h"
#include "program/read.h"

namespace edge::agent {

namespace v1 {
class ProgramPart;
class ProgramBegin;
class SectionChunk;
}  // namespace v1

using ProgramBytes = std::shared_ptr<const std::vector<std::byte>>;

struct ReceivedProgram {
  ProgramBytes bytes;
  program::Hash hash{};
  std::uint64_t values = 0;  ///< version of the values that the program needs, and must not run without
};

/// Sections beside those of the running program.
class SectionKeeper {
 public:
  virtual ~SectionKeeper() = default;
  /// Copies a section; false: it is not here, and stays lacking. `into` is as long as the section must be.
  virtual bool find(const program::Hash& hash, std::span<std::byte> into) = 0;
  /// A section has come whole, and is what its hash says.
  virtual void came(const program::Hash& hash, std::span<const std::byte> bytes) = 0;
};

class ProgramAssembly {
 public:
  /// `keeper` null: there are no others. Must outlive this object.
  explicit ProgramAssembly(SectionKeeper* keeper = nullptr) : keeper_(keeper) {}

  /// Takes the next `part`. \returns the program after its last part.
  ///
  /// `running`, already validated, null when there is none, must be the same from the first part to the last.
  /// kInvalidArgument: the parts are inconsistent; kDataLoss: a section does not match its hash; kFailedPrecondition:
  /// the base program or a section is not available; kResourceExhausted. After an error only a first part is accepted.
  Result<std::optional<ReceivedProgram>> take(const v1::ProgramPart& part, const ProgramBytes& running);

  /// Returns the hash of the program being assembled; nullopt between programs.
  const std::optional<program::Hash>& under_way() const { return program_; }
  /// Returns the bytes of sections received, over all programs.
  std::uint64_t section_bytes() const { return section_bytes_; }

 private:
  using Key = std::tuple<std::uint32_t, std::uint64_t>;
  struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  Status begin(const v1::ProgramBegin& begin, const ProgramBytes& running);
  Status change(const v1::ProgramPart& part);
  bool remove(const Key& key);
  /// Returns the base's table with the changes; sections of the base have their position as `offset`, new ones 0.
  std::vector<program::SectionEntry> changed_table() const;
  /// Called when the table is complete: computes the file's layout.
  Status lay_out(const ProgramBytes& running);
  /// Copies sections of the running program, and records missing ones. `sources`: positions in it, 0: unknown.
  void fill_in(const std::vector<program::SectionEntry>& table, const ProgramBytes& running,
               std::vector<std::uint64_t> sources);
  Status take_chunk(const v1::SectionChunk& chunk);
  Status finish_section();
  /// Those that did not come, of the keeper.
  void find_lacking();
  void clear();

  SectionKeeper* keeper_;
  std::optional<program::Hash> program_;
  std::uint64_t values_ = 0;
  program::FileHeader header_{};
  program::SignatureBlock signature_{};
  std::vector<program::SectionEntry> base_;                      ///< its table, ascending
  std::map<Key, std::optional<program::SectionEntry>> changes_;  ///< to it; nullopt: removed
  bool laid_out_ = false;
  std::vector<std::byte> bytes_;
  /// Positions waiting for their content, by hash.
  std::multimap<program::Hash, ByteRange> lacking_;
  std::optional<program::Hash> coming_;  ///< the section being received
  std::uint64_t filled_ = 0;             ///< bytes of it
  std::uint64_t section_bytes_ = 0;
};

/// Returns the hashes of a program's sections; none when the bytes are not a program.
std::vector<program::Hash> section_hashes(std::span<const std::byte> program);

}  // namespace edge::agent
