#include "controller/status/served_objects.h"

#include <algorithm>
#include <charconv>

namespace edge::controller {
namespace {

/// Whether what was taken is the version that was written, or a later one. Versions are said to be opaque; where they
/// are numbers, as everywhere, they are compared (KEP-5504).
bool has_reached(const std::string& taken, const std::string& written) {
  const auto number = [](const std::string& text, std::uint64_t& value) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc() && end == text.data() + text.size();
  };
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  return number(taken, a) && number(written, b) ? a >= b : taken == written;
}

}  // namespace

void ServedObjects::take(const std::vector<TakenObject>& objects, std::uint64_t program) {
  const std::lock_guard lock(mutex_);
  begun_ = true;
  newest_ = program;
  for (const TakenObject& object : objects) {
    if (!has_status(object.key.kind)) continue;
    if (object.gone) {
      entries_.erase(object.key.text());
      continue;
    }
    Entry& entry = entries_[object.key.text()];
    if (entry.uid != object.uid) entry.acceptance.reset();
    // A status that was written alone moves no program.
    if (entry.uid != object.uid || entry.generation != object.generation) entry.program = program;
    entry.uid = object.uid;
    entry.resource_version = object.resource_version;
    entry.generation = object.generation;
  }
}

void ServedObjects::set_desired(const std::vector<DesiredStatus>& desired_statuses, std::uint64_t program) {
  const std::lock_guard lock(mutex_);
  for (const DesiredStatus& desired : desired_statuses) {
    const auto found = entries_.find(desired.key.text());
    if (found == entries_.end()) continue;
    // Another object may have changed what this one comes to.
    found->second.program = program;
    found->second.acceptance = Acceptance{desired.generation, !desired.status.empty(), desired.rejection};
  }
}

ObjectProgress ServedObjects::progress(const ObjectVersion& version) const {
  using State = ObjectProgress::State;
  if (!has_status(version.kind)) return {State::kApart, 0, "no agent is told of a " + version.kind + " by itself"};
  const std::lock_guard lock(mutex_);
  if (!begun_) return {};
  const auto found = entries_.find(resource_text(version.kind, version.name_space, version.name));
  const bool there = found != entries_.end() && (version.uid.empty() || found->second.uid == version.uid);
  if (version.gone) return there ? ObjectProgress{} : ObjectProgress{State::kTaken, newest_, {}};
  if (!there || !has_reached(found->second.resource_version, version.resource_version)) return {};
  const Entry& entry = found->second;
  if (!entry.acceptance || entry.acceptance->generation < entry.generation) return {};
  if (!entry.acceptance->rejection.empty()) return {State::kRejected, 0, entry.acceptance->rejection};
  if (!entry.acceptance->ours) return {State::kRejected, 0, "it is for another controller"};
  return {State::kTaken, entry.program, {}};
}

}  // namespace edge::controller
