#include "controller/publish/cause.h"

namespace edge::controller {

void Cause::add_user(const std::string& by) {
  if (several_ || by == user) return;
  if (count == 0) {
    user = by;
  } else {
    user.clear();
    several_ = true;
  }
}

void Cause::add(const std::string& resource, const std::string& by) {
  add_user(by);
  ++count;
  if (resources.size() < kMaxNamed) resources.push_back(resource);
}

void Cause::add(const Cause& more) {
  if (more.count == 0) return;
  add_user(more.user);
  several_ |= more.several_;
  count += more.count;
  for (const std::string& resource : more.resources) {
    if (resources.size() < kMaxNamed) resources.push_back(resource);
  }
}

std::string Cause::line() const {
  if (count == 0) return "nothing";
  std::string text = resources.front();
  if (count > 1) text += " and " + std::to_string(count - 1) + " more";
  if (!user.empty()) text += " by " + user;
  return text;
}

}  // namespace edge::controller
