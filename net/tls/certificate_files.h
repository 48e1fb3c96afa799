// Certificates with their keys from PEM files below directories that the administrator allows, and their changes: a
// link that is swapped, a file that is renamed into place, two files written one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace edge::net::tls {

/// Of one thread at a time. A file of more than kMaxPemBytes is refused, and so are more than kMostPairs pairs.
class CertificateFiles {
 public:
  static constexpr std::size_t kMostPairs = 4096;

  /// Absolute paths of both files.
  struct Names {
    std::string certificate;
    std::string key;
    friend auto operator<=>(const Names&, const Names&) = default;
  };
  struct Pair {
    std::shared_ptr<const std::string> certificate;
    std::shared_ptr<const std::string> key;
  };
  /// What the administrator is told. No contents.
  struct Line {
    bool warning = false;
    std::string text;
  };

  /// `directories`: where files may be, after all links were followed. Below one that is not there is nothing.
  explicit CertificateFiles(std::vector<std::string> directories);

  /// Reads those that are new, and forgets those that are not among `pairs`.
  void follow(const std::set<Names>& pairs);
  /// Reads those whose files changed. A pair that cannot be used leaves the last one that could.
  /// \returns whether any is another now. Two `stat` a pair.
  bool look();
  /// The last that could be used; null: there was none since the pair is followed.
  const Pair* find(const Names& names) const;
  bool follows_any() const { return !pairs_.empty(); }
  /// What is to be told since the last call: a fault once, and once when it is gone.
  std::vector<Line> take_lines() { return std::exchange(lines_, {}); }

 private:
  /// A file as the file system knows it.
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t changed = 0, modified = 0;  ///< ns since 1970
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct Followed {
    Stamp certificate, key;
    bool settled = false;   ///< another change of these files would change the stamps
    Pair pair;              ///< null texts: none yet
    std::string fault;      ///< of what is there now
    bool reported = false;  ///< the fault
  };

  bool read(const Names& names, Followed& followed);
  void note_fault(Followed& followed, std::string fault);
  Result<std::shared_ptr<const std::string>> read_file(const std::string& path) const;
  static Stamp stamp_of(const std::string& path);
  void tell(bool warning, std::string text) { lines_.push_back({warning, std::move(text)}); }

  std::vector<std::string> directories_;
  std::map<Names, Followed> pairs_;
  std::vector<Line> lines_;
  bool too_many_ = false;
};

}  // namespace edge::net::tls
