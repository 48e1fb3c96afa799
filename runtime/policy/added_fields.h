// Fields that policies give to a response, whoever made it, and the fields of others that they stand in for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http1/write.h"
#include "program/filters.h"

namespace edge::runtime {

/// Field lines that are composed when a program is loaded.
class FieldBlock {
 public:
  /// kJoins: a list that others may add to as well (Vary); kReplaces: the only field of its name.
  enum class Manner : std::uint8_t { kReplaces, kJoins };

  /// `name` as it is written. A value that could end its line is left out, with its name: programs are signed, and a
  /// second look costs nothing here.
  void add(std::string_view name, std::string_view value, Manner manner = Manner::kReplaces);
  bool empty() const { return lines_.empty(); }
  const std::string& whole() const { return whole_; }

 private:
  friend class AddedFields;
  struct Line {
    std::string name;  ///< lower case
    std::string text;  ///< with its CRLF
    Manner manner;
  };
  std::vector<Line> lines_;
  std::string whole_;  ///< all of them: the usual case is that none is left out
};

/// What one exchange adds. Points to blocks of its program's policies, which the exchange keeps alive.
class AddedFields {
 public:
  bool none() const { return count_ == 0 && !cors_ && own_lines_ == nullptr; }
  void add(const FieldBlock& block) {
    if (count_ < blocks_.size()) blocks_[count_++] = &block;
  }
  /// CORS is decided here: what a backend says of it does not count.
  void take_over_cors() { cors_ = true; }
  /// The one line that cannot be composed before: an origin that a pattern allows.
  void allow_origin(std::string_view origin);

  /// Whole lines that are this exchange's alone, beside whatever else there is: cookies.
  void append(std::string_view lines);

  /// A whole line, or nothing, that is known only when an endpoint answers: looked up then, for its answer alone.
  void append_then(const std::string* line);

  /// Whether a field of the backend's must go.
  bool replaces(std::string_view name) const;
  /// `edits` are the route's response filters: a name that they edit is theirs. Null for answers of our own.
  void write(net::http1::HeadWriter& out, const program::FieldEdits* edits) const;

 private:
  /// One of CORS, one of security headers.
  std::array<const FieldBlock*, 2> blocks_{};
  std::uint8_t count_ = 0;
  bool cors_ = false;
  std::string origin_line_;
  struct OwnLines {
    std::string lines;
    const std::string* then = nullptr;
  };
  std::unique_ptr<OwnLines> own_lines_;
};

}  // namespace edge::runtime
