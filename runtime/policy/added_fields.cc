#include "runtime/policy/added_fields.h"

#include <algorithm>

#include "base/field_name.h"
#include "base/text/ascii.h"

namespace edge::runtime {
namespace {

constexpr std::string_view kCorsPrefix = "access-control-";
constexpr std::string_view kAllowOrigin = "access-control-allow-origin";

bool ends_no_line(std::string_view value) {
  return std::ranges::none_of(value, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

}  // namespace

void FieldBlock::add(std::string_view name, std::string_view value, Manner manner) {
  if (value.empty() || !ends_no_line(value)) return;
  std::string text(name);
  text.append(": ").append(value).append("\r\n");
  whole_ += text;
  lines_.push_back({ascii_lower(name), std::move(text), manner});
}

void AddedFields::allow_origin(std::string_view origin) {
  origin_line_ = "Access-Control-Allow-Origin: ";
  origin_line_.append(origin).append("\r\n");
}

void AddedFields::append(std::string_view lines) {
  if (lines.empty()) return;
  if (own_lines_ == nullptr) own_lines_ = std::make_unique<OwnLines>();
  own_lines_->lines.append(lines);
}

void AddedFields::append_then(const std::string* line) {
  if (own_lines_ == nullptr) own_lines_ = std::make_unique<OwnLines>();
  own_lines_->then = line;
}

bool AddedFields::replaces(std::string_view name) const {
  if (cors_ && name.size() > kCorsPrefix.size() && starts_with_ignoring_case(name, kCorsPrefix)) {
    return true;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    for (const FieldBlock::Line& line : blocks_[i]->lines_) {
      if (line.manner == FieldBlock::Manner::kReplaces && same_field(line.name, name)) return true;
    }
  }
  return false;
}

void AddedFields::write(net::http1::HeadWriter& out, const program::FieldEdits* edits) const {
  const bool edited = edits != nullptr && !edits->none();
  if (own_lines_ != nullptr) {
    out.lines(own_lines_->lines);
    // Our own answers have no edits, and are no endpoint's.
    if (own_lines_->then != nullptr && edits != nullptr) out.lines(*own_lines_->then);
  }
  if (!origin_line_.empty() && !(edited && edits->names(kAllowOrigin))) out.lines(origin_line_);
  for (std::size_t i = 0; i < count_; ++i) {
    if (!edited) {
      out.lines(blocks_[i]->whole_);
      continue;
    }
    for (const FieldBlock::Line& line : blocks_[i]->lines_) {
      if (line.manner == FieldBlock::Manner::kJoins || !edits->names(line.name)) out.lines(line.text);
    }
  }
}

}  // namespace edge::runtime
