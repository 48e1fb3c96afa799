#include "controller/relay/site_group.h"

#include <algorithm>

#include "controller/distribute/publication.h"
#include "program/values/value_set.h"
#include "schemas/agent.pb.h"

namespace edge::controller::relay {
namespace {

/// Versions of values that agents may still acknowledge.
constexpr std::size_t kMostVersions = 256;

}  // namespace

std::string SiteGroup::program_bytes() const {
  return program_ ? std::string(reinterpret_cast<const char*>(hash_.data()), hash_.size()) : std::string();
}

std::uint64_t SiteGroup::hub_version(std::uint64_t version) const {
  const std::lock_guard lock(mutex_);
  const auto after = std::ranges::upper_bound(versions_, version, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
  return after == versions_.begin() ? 0 : std::prev(after)->second;
}

/// Without secrets, which no disk has: agents that run something keep theirs.
void SiteGroup::restore(Distributor& to) {
  auto program = kept_.program(name_, sections_);
  if (!program) {
    if (program.error().code != ErrorCode::kNotFound) {
      log_.warn("the last program of a group cannot be given before the hub is there",
                {{"group", name_}, {"reason", program.error().text}});
    }
    return;
  }
  const auto outline = outline_of(**program);
  auto endpoints = kept_.endpoints(name_);
  if (!outline || !endpoints) return;
  program_ = std::move(*program);
  hash_ = (*outline)->program;
  published_ = hash_;
  sections_.pin(name_, agent::section_hashes(*program_));
  endpoints_ = std::move(*endpoints);
  has_program_ = true;
  lacks_secrets_ = true;
  give(to, {.program = program_, .values = program::value_set(endpoints_, {}), .group = name_, .lacks_secrets = true},
       0);
}

void SiteGroup::begin_session() {
  broken_off_ = broken_off_ || assembly_.under_way().has_value();
  values_assembly_ = {};
  // The hub's numbers may begin anew.
  values_.reset();
  applied_ = 0;
  // The hub takes it for given, and begins with all values of now.
  if (next_) next_->values = 0;
}

Result<bool> SiteGroup::take(const agent::v1::ProgramPart& part, Distributor& to) {
  auto taken = assembly_.take(part, program_);
  section_bytes_ = assembly_.section_bytes();
  behind_ = !taken || !*taken;
  if (!taken) {
    broken_off_ = true;
    return taken.error();
  }
  if (!*taken) return false;
  broken_off_ = false;
  program_ = (*taken)->bytes;
  hash_ = (*taken)->hash;
  sections_.pin(name_, agent::section_hashes(*program_));
  next_ = std::move(**taken);
  publish(to);
  return true;
}

Status SiteGroup::take(const agent::v1::ValuesPart& part, Distributor& to) {
  auto taken = values_assembly_.take(part);
  if (!taken) return taken.error();
  if (!*taken) return {};
  if (values_ && values_->version != applied_) (*taken)->replace(*values_);
  values_ = std::move(**taken);
  publish(to);
  return {};
}

/// As an agent puts programs and values to work: a program never before its values, and what one that is still served
/// needs stays beside values of a later one.
void SiteGroup::publish(Distributor& to) {
  if (!values_) return;
  // After a session that began anew the program may be the one that is published already.
  const bool comes = next_ && values_->version >= next_->values;
  if (!comes && (!published_ || values_->version == applied_)) return;
  const program::Hash& program = comes ? next_->hash : *published_;
  const bool own = values_->program == program || (comes && values_->version == next_->values);
  // Agents that run something keep their secrets until all are known again.
  if (lacks_secrets_ && !own && !comes) return;
  Published published{.group = name_};
  if (own) {
    endpoints_ = values_->endpoints;
    secrets_ = values_->secrets;
  } else {
    endpoints_ = united(values_->endpoints, united(values_->skipped_endpoints, endpoints_));
    secrets_ = united(values_->secrets, united(values_->skipped_secrets, secrets_));
  }
  published.values = program::value_set(endpoints_, secrets_);
  if (comes) {
    published.program = next_->bytes;
    published_ = next_->hash;
    has_program_ = true;
    next_.reset();
    values_->skipped_endpoints = {};
    values_->skipped_secrets = {};
  }
  lacks_secrets_ = false;
  applied_ = values_->version;
  dirty_ = true;
  if (comes) {
    // Never a program beside endpoints of an older one.
    keep();
    if (Status status = kept_.keep_program(name_, *program_); !status) log_.error(status.error().text);
  }
  give(to, std::move(published), applied_);
}

void SiteGroup::give(Distributor& to, Published published, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t own = to.publish(std::move(published));
  versions_.emplace_back(own, version);
  if (versions_.size() > kMostVersions) versions_.pop_front();
}

void SiteGroup::keep() {
  if (!dirty_) return;
  if (Status status = kept_.keep_endpoints(name_, endpoints_); !status) return log_.error(status.error().text);
  dirty_ = false;
}

}  // namespace edge::controller::relay
