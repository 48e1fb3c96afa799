#include "runtime/policy/auth/forward/forward_auth_cache.h"

#include <sys/random.h>

#include <cstdlib>
#include <span>

#include "program/sha256.h"

namespace edge::runtime::auth {
namespace {

/// Of an entry beside its texts, roughly.
constexpr std::size_t kOverhead = 512;

std::size_t bytes_of(const AuthResult& auth_result) {
  std::size_t bytes = kOverhead + auth_result.answer.fields.size() + auth_result.answer.body.size();
  for (const RequestEdits::Line& line : auth_result.request.lines()) bytes += line.name.size() + line.value.size() + 64;
  return bytes;
}

}  // namespace

ForwardAuthCache::ForwardAuthCache(const Limits& limits) : limits_(limits) {
  if (::getrandom(salt_.data(), salt_.size(), 0) != static_cast<ssize_t>(salt_.size())) std::abort();
}

ForwardAuthCache::Key ForwardAuthCache::key(std::string_view policy, std::string_view forwarded) const {
  std::string text(reinterpret_cast<const char*>(salt_.data()), salt_.size());
  text.append(std::to_string(policy.size())).append(" ").append(policy).append(forwarded);
  return program::sha256(std::as_bytes(std::span(text)));
}

std::shared_ptr<const AuthResult> ForwardAuthCache::find(const Key& key, net::Time now) {
  const std::lock_guard lock(mutex_);
  const auto position = places_.find(key);
  if (position == places_.end()) return nullptr;
  const Order::iterator entry = position->second;
  if (entry->until <= now) {
    erase(entry);
    return nullptr;
  }
  order_.splice(order_.begin(), order_, entry);
  return entry->auth_result;
}

void ForwardAuthCache::put(const Key& key, AuthResult auth_result, net::Time until) {
  const std::size_t bytes = bytes_of(auth_result);
  if (bytes > limits_.bytes / 16) return;
  auto kept = std::make_shared<const AuthResult>(std::move(auth_result));
  const std::lock_guard lock(mutex_);
  if (const auto position = places_.find(key); position != places_.end()) erase(position->second);
  while (!order_.empty() && (order_.size() >= limits_.entries || bytes_ + bytes > limits_.bytes)) {
    erase(std::prev(order_.end()));
  }
  order_.push_front({key, std::move(kept), until, bytes});
  places_.emplace(key, order_.begin());
  bytes_ += bytes;
}

std::size_t ForwardAuthCache::entries() const {
  const std::lock_guard lock(mutex_);
  return order_.size();
}

void ForwardAuthCache::erase(Order::iterator entry) {
  bytes_ -= entry->bytes;
  places_.erase(entry->key);
  order_.erase(entry);
}

}  // namespace edge::runtime::auth
