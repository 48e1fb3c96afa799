#include "edgectl/resources/table.h"

#include <algorithm>
#include <utility>

namespace edge::edgectl {
namespace {

constexpr std::size_t kGap = 3;

}  // namespace

std::string shown(std::string_view text) {
  std::string out(text);
  // U+0080 to U+009F are control characters too: 0xc2 and a byte below 0xa0.
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    const bool c1 = byte == 0xc2 && i + 1 < out.size() && static_cast<unsigned char>(out[i + 1]) < 0xa0;
    if (c1) out[i + 1] = '?';
    if (c1 || byte < 0x20 || byte == 0x7f) out[i] = '?';
  }
  return out;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

TextTable::TextTable(std::vector<std::string> heads) : heads_(std::move(heads)) {
  for (const std::string& head : heads_) widths_.push_back(width_of(head));
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(heads_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = shown(cells[i]);
    widths_[i] = std::max(widths_[i], width_of(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::take(bool with_heads) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += cells[i];
      if (i + 1 < cells.size()) out.append(widths_[i] - width_of(cells[i]) + kGap, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  if (with_heads) line(heads_);
  for (const auto& row : rows_) line(row);
  rows_.clear();
  return out;
}

}  // namespace edge::edgectl
