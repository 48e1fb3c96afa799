#include "runtime/policy/request_edits.h"

#include <algorithm>

#include "program/filter_table.h"

namespace edge::runtime {
namespace {

bool fits_line(std::string_view value) {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
  });
}

}  // namespace

void RequestEdits::forget(std::string_view name) {
  std::erase_if(set_, [&](const Line& line) { return same_field(line.name, name); });
  if (!drops(name)) removed_.push_back(folded_field_name(name));
}

void RequestEdits::remove(std::string_view name) {
  if (!name.empty() && !program::is_reserved_from_policies(name)) forget(name);
}

void RequestEdits::set(std::string_view name, std::string_view value) {
  remove(name);
  if (name.empty() || value.empty() || program::is_reserved_from_policies(name) || !fits_line(value)) return;
  set_.push_back({std::string(name), std::string(value)});
}

void RequestEdits::state(std::string_view name, std::string_view value) {
  forget(name);
  set_.push_back({std::string(name), std::string(value)});
}

void RequestEdits::join(RequestEdits later) {
  if (removed_.empty()) {
    const bool drops_trailers = drops_trailers_ || later.drops_trailers_;
    *this = std::move(later);
    drops_trailers_ = drops_trailers;
    return;
  }
  drops_trailers_ |= later.drops_trailers_;
  // Those that it states, too, which policies may not remove.
  for (const std::string& name : later.removed_) forget(name);
  for (Line& line : later.set_) set_.push_back(std::move(line));
}

bool RequestEdits::drops(std::string_view name) const {
  return std::ranges::any_of(removed_, [&](const std::string& one) { return same_field(one, name); });
}

std::string_view RequestEdits::value(std::string_view name) const {
  for (const Line& line : set_) {
    if (same_field(line.name, name)) return line.value;
  }
  return {};
}

void RequestEdits::write(net::http1::HeadWriter& out, const program::FieldEdits& filters) const {
  const bool filtered = !filters.none();
  for (const Line& line : set_) {
    if (!filtered || !filters.drops(line.name)) out.field(line.name, line.value);
  }
}

}  // namespace edge::runtime
