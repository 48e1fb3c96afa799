#include "controller/authority/members.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include <openssl/sha.h>

#include "base/text/base64.h"
#include "controller/authority/lifetimes.h"

namespace edge::controller {
namespace {

std::int64_t milliseconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::optional<WallTime> time_of(std::string_view digits) {
  std::int64_t count = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return WallTime(std::chrono::milliseconds(count));
}

/// Takes a line off, and gives its words; fewer than there are to be: the rest is empty.
template <std::size_t kWords>
std::array<std::string_view, kWords> next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  std::array<std::string_view, kWords> words;
  for (std::string_view& word : words) {
    const std::size_t space = std::min(line.find(' '), line.size());
    word = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
  }
  return words;
}

std::string line_of(std::string_view name, WallTime since) {
  return std::string(name) + " " + std::to_string(milliseconds_of(since)) + "\n";
}

bool is_owned_name(std::string_view name) {
  if (name == kAdministrators) return true;
  for (const std::string_view prefix : {kRemotePrefix, kRenewalsPrefix}) {
    if (name.starts_with(prefix)) return is_subject_name(name.substr(prefix.size()));
  }
  return is_subject_name(name);
}

}  // namespace

Names Names::read(std::string_view text) {
  Names names;
  while (!text.empty()) {
    const auto [name, key, until, shown, joined] = next_line<5>(text);
    const auto time = time_of(until);
    if (!is_owned_name(name) || key.empty() || !time || names.owners_.size() == kMost) continue;
    Owner owner{std::string(key), *time, time_of(shown).value_or(WallTime())};
    // An older version did not write it: not after its certificate was issued.
    if (is_subject_name(name)) owner.joined = time_of(joined).value_or(*time - kAgentLifetime);
    names.owners_[std::string(name)] = std::move(owner);
  }
  return names;
}

std::string Names::text() const {
  std::string text;
  for (const auto& [name, owner] : owners_) {
    text += name + " " + owner.key + " " + std::to_string(milliseconds_of(owner.until));
    const bool is_agents = owner.joined != WallTime();
    if (is_agents || owner.shown != WallTime()) text += " " + std::to_string(milliseconds_of(owner.shown));
    if (is_agents) text += " " + std::to_string(milliseconds_of(owner.joined));
    text += "\n";
  }
  return text;
}

std::optional<WallTime> Names::taken(std::string_view name, std::string_view key, WallTime now) const {
  const auto found = owners_.find(name);
  if (found == owners_.end() || found->second.until <= now || found->second.key == key) return std::nullopt;
  return found->second.until;
}

bool Names::has(std::string_view name, WallTime now) const {
  const auto found = owners_.find(name);
  return found != owners_.end() && found->second.until > now;
}

const Names::Owner* Names::find(std::string_view name) const {
  const auto found = owners_.find(name);
  return found == owners_.end() ? nullptr : &found->second;
}

Status Names::take(std::string_view name, Owner owner, WallTime now) {
  if (owners_.size() >= kMost && !owners_.contains(name)) {
    std::erase_if(owners_, [now](const auto& entry) { return entry.second.until <= now; });
    if (owners_.size() >= kMost) return Error{ErrorCode::kResourceExhausted, "too many agents have joined"};
  }
  owners_[std::string(name)] = std::move(owner);
  return {};
}

void Names::free(std::string_view name) {
  if (const auto found = owners_.find(name); found != owners_.end()) owners_.erase(found);
}

Revocations Revocations::read(std::string_view text) {
  Revocations revoked;
  while (!text.empty()) {
    const auto [name, since] = next_line<2>(text);
    if (const auto time = time_of(since)) revoked.since_[std::string(name)] = *time;
  }
  return revoked;
}

std::string Revocations::text() const {
  std::string text;
  for (const auto& [name, since] : since_) text += line_of(name, since);
  return text;
}

std::optional<WallTime> Revocations::since(std::string_view name) const {
  if (name.empty()) return std::nullopt;
  const auto known = [this](std::string_view key) {
    const auto found = since_.find(key);
    return found == since_.end() ? std::nullopt : std::optional(found->second);
  };
  // The greater of two; none is less than any.
  return name == kAdministrators ? known(name) : std::max(known(name), known(kForgotten));
}

Revocations Revocations::of_agents(WallTime now) const {
  Revocations agents = *this;
  std::erase_if(agents.since_, [now](const auto& one) {
    return one.first == kForgotten ? one.second + kAgentLifetime > now : !is_subject_name(one.first);
  });
  return agents;
}

void Revocations::merge(const Revocations& other) {
  for (const auto& [name, since] : other.since_) {
    WallTime& known = since_.try_emplace(name, since).first->second;
    known = std::max(known, since);
  }
  // One of the two may have names that the other has forgotten.
  if (const auto forgotten = since_.find(kForgotten); forgotten != since_.end()) forget(forgotten->second);
}

bool Revocations::fit(std::size_t bytes, WallTime now) {
  std::size_t size = text().size();
  if (size <= bytes) return true;
  std::vector<std::pair<WallTime, std::size_t>> over;  // and the size of the line
  for (const auto& [name, since] : since_) {
    if (name == kAdministrators || name == kForgotten || since + kAgentLifetime + kClockSkew > now) continue;
    over.emplace_back(since, line_of(name, since).size());
  }
  std::ranges::sort(over);
  size += line_of(kForgotten, now).size();
  WallTime until{};
  for (auto one = over.begin(); size > bytes && one != over.end(); ++one) {
    size -= one->second;
    until = one->first;
  }
  if (until != WallTime()) forget(until);
  return size <= bytes;
}

void Revocations::forget(WallTime until) {
  WallTime& forgotten = since_[std::string(kForgotten)];
  forgotten = std::max(forgotten, until);
  std::erase_if(since_, [until = forgotten](const auto& one) {
    return one.first != kAdministrators && one.first != kForgotten && one.second <= until;
  });
}

Status Revocations::add(std::string_view name, WallTime until, WallTime now) {
  const auto known = since_.find(name);
  if (known != since_.end()) {
    known->second = std::max(known->second, until);
    return {};
  }
  // The administrator is one, and there is always room for it.
  if (name != kAdministrators) {
    if (Status status = make_room(now); !status) return status;
  }
  since_.emplace(name, until);
  return {};
}

Status Revocations::make_room(WallTime now) {
  static_assert(kRemoteLifetime <= kAgentLifetime);
  if (since_.size() < kMost) return {};
  auto oldest = since_.end();
  for (auto one = since_.begin(); one != since_.end(); ++one) {
    if (one->first == kAdministrators || one->first == kForgotten) continue;
    if (oldest == since_.end() || one->second < oldest->second) oldest = one;
  }
  if (oldest == since_.end() || oldest->second + kAgentLifetime >= now) {
    return Error{ErrorCode::kResourceExhausted,
                 "there are " + std::to_string(kMost) + " revoked names whose certificates may not be over"};
  }
  forget(oldest->second);
  return {};
}

std::string digest_of_token(std::string_view token) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(),
           reinterpret_cast<unsigned char*>(digest.data()));
  return to_base64url(digest);
}

std::vector<NamedToken> read_named_tokens(std::string_view text) {
  std::vector<NamedToken> tokens;
  while (!text.empty() && tokens.size() < kMostNamedTokens) {
    const auto [digest, name, until, key] = next_line<4>(text);
    const auto time = time_of(until);
    if (digest.empty() || !is_subject_name(name) || !time) continue;
    tokens.push_back({std::string(digest), std::string(name), *time, key == "-" ? std::string() : std::string(key)});
  }
  return tokens;
}

std::string text_of(const std::vector<NamedToken>& tokens) {
  std::string text;
  for (const NamedToken& token : tokens) {
    text += token.digest + " " + token.name + " " + std::to_string(milliseconds_of(token.until)) + " " +
            (token.key.empty() ? "-" : token.key) + "\n";
  }
  return text;
}

}  // namespace edge::controller
