#include "runtime/policy/auth/basic/htpasswd.h"

#include <algorithm>
#include <utility>

namespace edge::runtime::auth {
namespace {

/// Further ones are only counted.
constexpr std::size_t kMostFaults = 20;

bool is_name(std::string_view user) {
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return !user.empty() && user.size() <= kMaxUserBytes && std::ranges::none_of(user, control);
}

std::string_view trim(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

Htpasswd Htpasswd::read(std::string_view text) {
  Htpasswd file;
  if (text.size() > kMaxHtpasswdBytes) {
    file.faults_.emplace_back("larger than 4 MiB");
    return file;
  }
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    file.add(trim(text.substr(0, end)), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (const auto& [user, hash] : file.users_) {
    if (file.decoy_ == nullptr || hash.cost() > file.decoy_->cost()) file.decoy_ = &hash;
  }
  return file;
}

void Htpasswd::add(std::string_view line, std::size_t number) {
  if (line.empty() || line.front() == '#') return;
  const auto fault = [&](std::string_view what) {
    if (faults_.size() == kMostFaults) faults_.emplace_back("further lines are at fault");
    if (faults_.size() < kMostFaults) faults_.push_back("line " + std::to_string(number) + ": " + std::string(what));
  };
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return fault("no `user:hash`");
  const std::string_view user = line.substr(0, colon);
  if (!is_name(user)) return fault("a user name that is empty, longer than 255 bytes or has control bytes");
  Result<PasswordHash> hash = PasswordHash::read(line.substr(colon + 1));
  if (!hash) return fault(hash.error().text);
  if (users_.size() == kMaxUsers) return fault("more than 50,000 users");
  if (!users_.try_emplace(std::string(user), *std::move(hash)).second) fault("a user that stands above already");
}

const PasswordHash* Htpasswd::find(std::string_view user) const {
  const auto found = users_.find(user);
  return found == users_.end() ? nullptr : &found->second;
}

}  // namespace edge::runtime::auth
