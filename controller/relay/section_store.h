// Sections of programs on disk, each by its hash: what a relay has, it fetches from no hub again.
//
// A file that is not what its name says is removed when it is read, as if it had never been there. Those that no
// program in use needs are evicted, the longest unused first, beyond a bound of bytes and of their number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/received/received_program.h"
#include "base/log.h"
#include "base/result.h"

namespace edge::controller::relay {

/// Thread-safe.
class SectionStore final : public agent::SectionKeeper {
 public:
  static constexpr std::size_t kMostSections = std::size_t{1} << 18;

  /// Finds what is in `directory`, made where it is missing (mode 0700).
  static Result<std::unique_ptr<SectionStore>> open(const std::string& directory, std::uint64_t most_bytes, Logger log);

  bool find(const program::Hash& hash, std::span<std::byte> into) override;
  /// A disk that takes nothing is told once; the section is then fetched again another time.
  void came(const program::Hash& hash, std::span<const std::byte> bytes) override;
  /// Sections that are not evicted: those of the program that `user` runs, in place of the ones before.
  void pin(const std::string& user, std::vector<program::Hash> hashes);
  /// Ascending.
  std::vector<program::Hash> held() const;

  struct Figures {
    std::size_t sections = 0;
    std::uint64_t bytes = 0;
    std::uint64_t found = 0;  ///< in this run, like the rest
    std::uint64_t evicted = 0;
    std::uint64_t corrupt = 0;  ///< removed
  };
  Figures figures() const;

 private:
  struct Entry {
    std::uint64_t size = 0;
    std::uint64_t used = 0;
    unsigned pins = 0;
  };
  using Entries = std::map<program::Hash, Entry>;

  SectionStore(std::string directory, std::uint64_t most_bytes, Logger log)
      : directory_(std::move(directory)), most_bytes_(most_bytes), log_(std::move(log)) {}
  Status scan();
  std::string path_of(const program::Hash& hash) const;
  void touch(Entries::iterator entry);
  void remove(Entries::iterator entry);
  void make_room();

  const std::string directory_;
  const std::uint64_t most_bytes_;
  const Logger log_;
  mutable std::mutex mutex_;  ///< guards what follows
  Entries entries_;
  std::set<std::pair<std::uint64_t, program::Hash>> unused_;  ///< without a pin, by their last use
  std::map<std::string, std::vector<program::Hash>> pins_;
  std::uint64_t clock_ = 0;
  std::uint64_t bytes_ = 0;
  Figures counts_;
  bool told_ = false;  ///< that the disk takes nothing
};

}  // namespace edge::controller::relay
