#include "compiler/analyze/space/host_classes.h"

#include <algorithm>
#include <set>

namespace edge::compiler::analyze {

using program::kNone;

void PatternMap::add(std::string_view pattern, std::uint32_t value) {
  if (pattern.empty()) {
    any_ = value;
  } else if (pattern.starts_with("*.")) {
    wildcard_.emplace(pattern.substr(2), value);
  } else {
    exact_.emplace(pattern, value);
  }
}

std::uint32_t PatternMap::find(std::string_view name) const {
  if (name.empty()) return any_;
  if (const auto exact = exact_.find(name); exact != exact_.end()) return exact->second;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    if (const auto found = wildcard_.find(name.substr(dot + 1)); found != wildcard_.end()) return found->second;
  }
  return any_;
}

HostClasses::HostClasses(const program::ProgramView& program, std::uint32_t bind) : program_(program) {
  const program::SectionView& view = program.listeners().view;
  const auto& header = view.header<program::ListenersHeader>();
  const program::NameTable& table = view.array(header.binds)[bind].listeners;
  std::set<std::string> texts;
  std::set<std::uint32_t> listeners;
  const auto claim = [&](std::string pattern, std::uint32_t listener) {
    if (listener == kNone) return;
    claims_.add(pattern, listener);
    listeners.insert(listener);
    texts.insert(std::move(pattern));
  };
  for (const program::NameEntry& entry : view.array(table.entries)) {
    const std::string name(view.string(entry.name));
    claim(name, entry.exact);
    claim("*." + name, entry.wildcard);
  }
  claim({}, table.fallback);
  for (const std::uint32_t listener : listeners) {
    PatternMap& entries = entries_[listener];
    const auto records = view.array(view.array(header.listeners)[listener].host_entries);
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      const std::string_view pattern = view.string(records[i].pattern);
      entries.add(pattern, i);
      texts.emplace(pattern);
    }
  }
  for (const std::string& text : texts) patterns_.push_back(HostPattern::parse(text).value_or(HostPattern()));
  std::ranges::sort(patterns_, HostPattern::more_specific);
}

HostChain HostClasses::chain(std::string_view host) const {
  HostChain out;
  out.listener = claims_.find(host);
  if (out.listener == kNone) return out;
  const program::SectionView& view = program_.listeners().view;
  const auto& listener = view.array(view.header<program::ListenersHeader>().listeners)[out.listener];
  const auto records = view.array(listener.host_entries);
  for (std::uint32_t at = entries_.at(out.listener).find(host); at != kNone; at = records[at].next) {
    const program::Section* const section = program_.find(program::SectionKind::kHost, records[at].host_id);
    if (section != nullptr) out.hosts.push_back(section);
  }
  return out;
}

std::optional<std::string> name_of_class(const HostPattern& pattern, std::uint32_t index, const PatternMap& classes) {
  if (!pattern.any() && !pattern.wildcard()) return pattern.text();
  const std::string domain = pattern.any() ? "example" : std::string(pattern.domain());
  for (const char* label : {"w", "w1", "w2", "any", "other", "w-1", "w-2", "w-3"}) {
    std::string name = std::string(label) + "." + domain;
    if (name.size() <= 253 && classes.find(name) == index) return name;
  }
  return std::nullopt;
}

}  // namespace edge::compiler::analyze
