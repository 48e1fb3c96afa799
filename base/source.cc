#include "base/source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace edge {

SourceText::SourceText(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (std::size_t at = 0; at < text_.size();) {
    const void* found = std::memchr(text_.data() + at, '\n', text_.size() - at);
    if (found == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) + 1;
    line_starts_.push_back(static_cast<std::uint32_t>(at));
  }
}

LineColumn SourceText::position(std::uint32_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::uint32_t>(after - line_starts_.begin());
  return {.line = line, .column = offset - line_starts_[line - 1] + 1};
}

std::string_view SourceText::line(std::uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t begin = line_starts_[number - 1];
  const std::size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  std::string_view bytes = std::string_view(text_).substr(begin, end - begin);
  if (bytes.ends_with('\r')) bytes.remove_suffix(1);
  return bytes;
}

std::uint32_t SourceMap::add(std::string name, std::string text) {
  texts_.emplace_back(std::move(name), std::move(text));
  return static_cast<std::uint32_t>(texts_.size() - 1);
}

}  // namespace edge
