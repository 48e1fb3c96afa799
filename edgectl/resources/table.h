// Text columns for terminals: as wide as their contents, three spaces apart, like kubectl's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace edge::edgectl {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heads);

  /// As many cells as there are heads.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Returns the rows added since the last call. Columns never become narrower, so that rows of a watch stay aligned.
  std::string take(bool with_heads);

 private:
  std::vector<std::string> heads_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns untrusted text for a terminal: control bytes become `?`.
std::string shown(std::string_view text);
/// Returns the columns that `text` takes: one per code point.
std::size_t width_of(std::string_view text);

}  // namespace edge::edgectl
