// A program put together from the parts in which a controller sends it, and from the sections of the one that runs.
//
// The parts are hostile: what is kept is bounded by what the program's own table says, which must hash to the name that
// was announced before a byte of a section is taken. Whether the program may run is for those after it to say: the
// signature and the sections are checked by the installer, as those of a program from a file.
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
  std::uint64_t values = 0;  ///< the version that has all it needs, and without which it must not run
};

class ProgramAssembly {
 public:
  /// `part` follows the one before. \returns the program once its last part is there.
  ///
  /// `running`, whose bytes were read before, null when there is none, must stay the same from a first part to its
  /// last. kInvalidArgument: the parts contradict themselves; kDataLoss: a section is not what its hash says;
  /// kFailedPrecondition: it builds on another program, or on a section that is not here; kResourceExhausted. After an
  /// error only a first part is taken.
  Result<std::optional<ReceivedProgram>> take(const v1::ProgramPart& part, const ProgramBytes& running);

  /// Hash of the program that is being put together; nullopt between programs.
  const std::optional<program::Hash>& under_way() const { return program_; }
  /// Bytes of sections that came, over all programs.
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
  /// The base's table with what was changed; sections that the base has keep their place in it as `offset`, new ones
  /// have 0.
  std::vector<program::SectionEntry> changed_table() const;
  /// The table is whole: lays the file out.
  Status lay_out(const ProgramBytes& running);
  /// Takes from the running program what it has, and notes what is lacking. `sources`: places in it, 0: not known.
  void fill_in(const std::vector<program::SectionEntry>& table, const ProgramBytes& running,
               std::vector<std::uint64_t> sources);
  Status take_chunk(const v1::SectionChunk& chunk);
  Status finish_section();
  void clear();

  std::optional<program::Hash> program_;
  std::uint64_t values_ = 0;
  program::FileHeader header_{};
  program::SignatureBlock signature_{};
  std::vector<program::SectionEntry> base_;                      ///< its table, ascending
  std::map<Key, std::optional<program::SectionEntry>> changes_;  ///< to it; nullopt: taken away
  bool laid_out_ = false;
  std::vector<std::byte> bytes_;
  /// Places that wait for their content, by hash.
  std::multimap<program::Hash, ByteRange> lacking_;
  std::optional<program::Hash> coming_;  ///< the section whose chunks come now
  std::uint64_t filled_ = 0;             ///< of it
  std::uint64_t section_bytes_ = 0;
};

/// The hashes of a program's sections; none when it is none.
std::vector<program::Hash> section_hashes(std::span<const std::byte> program);

}  // namespace edge::agent
