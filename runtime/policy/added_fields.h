// Fields that policies add to a response, from the backend or the proxy, and the backend's fields that they replace.
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

/// Header lines composed when a program is loaded.
class FieldBlock {
 public:
  /// kJoins: a list field that others may add to (Vary); kReplaces: the only field of its name.
  enum class Manner : std::uint8_t { kReplaces, kJoins };

  /// Adds a field; `name` as it is written. Drops a field whose value contains a line break: the compiler rejects
  /// those, and checking again costs nothing here.
  void add(std::string_view name, std::string_view value, Manner manner = Manner::kReplaces);
  bool empty() const { return lines_.empty(); }
  const std::string& whole() const { return whole_; }

 private:
  friend class AddedFields;
  struct Line {
    std::string name;  ///< lower case
    std::string text;  ///< including its CRLF
    Manner manner;
  };
  std::vector<Line> lines_;
  std::string whole_;  ///< all lines: normally none is omitted
};

/// The fields that one exchange adds. Points to blocks of its program's policies, which the exchange keeps alive.
class AddedFields {
 public:
  bool none() const { return count_ == 0 && !cors_ && own_lines_ == nullptr; }
  void add(const FieldBlock& block) {
    if (count_ < blocks_.size()) blocks_[count_++] = &block;
  }
  /// Makes this proxy decide CORS: the backend's CORS fields are removed.
  void take_over_cors() { cors_ = true; }
  /// Adds Access-Control-Allow-Origin for an origin matched by a pattern, the one line that cannot be composed before.
  void allow_origin(std::string_view origin);

  /// Adds complete lines of this exchange in addition to all other fields: cookies, what a preflight is told.
  void append(std::string_view lines);

  /// Adds a complete line, or none, that is known only when an endpoint answers: read when its response is written.
  void append_then(const std::string* line);

  /// Returns whether a field of the backend, or of who answers in its place, must be removed.
  bool replaces(std::string_view name) const;
  /// Writes the fields. `edits` are the route's response filters, which take precedence for the names that they edit.
  /// Null for the proxy's own answers.
  void write(net::http1::HeadWriter& out, const program::FieldEdits* edits) const;

 private:
  /// One for CORS, one for security headers.
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
