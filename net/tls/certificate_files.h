// Certificates and keys from PEM files in directories that the administrator allows. Detects changes: a replaced
// symbolic link, a renamed file, two files written one after the other.
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

/// For one thread at a time. Files of more than kMaxPemBytes are rejected, and so are more than kMostPairs pairs.
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
  /// A log message, without file contents.
  struct Line {
    bool warning = false;
    std::string text;
  };

  /// `directories`: where files may be, after resolving all links. A missing directory has none.
  explicit CertificateFiles(std::vector<std::string> directories);

  /// Reads new pairs, and drops those that are not in `pairs`.
  void follow(const std::set<Names>& pairs);
  /// Reads pairs whose files changed. An unusable pair keeps its last usable version. \returns whether any has changed.
  /// Two `stat` calls per pair.
  bool look();
  /// Returns the last usable version; null: there has been none.
  const Pair* find(const Names& names) const;
  bool follows_any() const { return !pairs_.empty(); }
  /// Returns messages since the last call: an error once, and once when it is fixed.
  std::vector<Line> take_lines() { return std::exchange(lines_, {}); }

 private:
  /// A file's state in the file system.
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t changed = 0, modified = 0;  ///< ns since 1970
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct Followed {
    Stamp certificate, key;
    bool settled = false;   ///< stable: a further change of the files would change the stamps
    Pair pair;              ///< null texts: none yet
    std::string fault;      ///< of the current files
    bool reported = false;  ///< the fault was reported
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
