// Columns of text for terminals: as wide as what stands in them, three spaces apart, as kubectl has them.
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
  /// What was added since the last call. Columns never become narrower, so that rows of a watch stand below each other.
  std::string take(bool with_heads);

 private:
  std::vector<std::string> heads_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

/// Text of a stranger for a terminal: control bytes become `?`.
std::string shown(std::string_view text);
/// Columns that `text` takes: one a code point.
std::size_t width_of(std::string_view text);

}  // namespace edge::edgectl
