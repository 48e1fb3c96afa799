#include "edgectl/web/access/viewers.h"

#include <algorithm>
#include <chrono>

namespace edge::edgectl::web {
namespace {

constexpr net::Duration kVisibleFor = std::chrono::seconds(10);
/// What took long to find is kept longer, so that asking takes a twentieth of the time.
constexpr int kTimesAsLong = 20;

}  // namespace

Viewers::Viewers(kube::Client& own, CallWaiters& waiters, std::function<Listable()> listable)
    : own_client_(own), waiters_(waiters), listable_(std::move(listable)) {
  // Not owned: it outlives every viewer.
  const std::shared_ptr<kube::Client> client(std::shared_ptr<void>(), &own);
  own_ = std::make_shared<Viewer>(Identity{}, client, /*login=*/false);
}

Result<std::shared_ptr<Viewer>> Viewers::find(const Identity& identity) {
  const auto known = all_.find(identity);
  if (known != all_.end()) {
    known->second->seen_ = waiters_.loop().now();
    return known->second;
  }
  kube::Config config = own_client_.config();
  config.identity.impersonate = identity.user;
  config.identity.impersonate_groups = identity.groups;
  auto client = kube::Client::make(waiters_.loop(), std::move(config), {.user_agent = "edgectl/" EDGE_VERSION});
  if (!client) return client.error();
  if (all_.size() >= kMost) forget_one();
  auto viewer = std::make_shared<Viewer>(identity, std::shared_ptr<kube::Client>(std::move(*client)), /*login=*/true);
  viewer->seen_ = waiters_.loop().now();
  all_.emplace(identity, viewer);
  return viewer;
}

/// Calls in progress keep what they use.
void Viewers::forget_one() {
  const auto oldest = std::ranges::min_element(all_, {}, [](const auto& one) { return one.second->seen_; });
  if (oldest != all_.end()) all_.erase(oldest);
}

std::shared_ptr<const Visible> Viewers::last_visible(const Viewer& viewer) {
  if (!viewer.logged_in()) return Visible::all();
  return viewer.visible_ != nullptr ? viewer.visible_ : std::make_shared<const Visible>();
}

net::Task<FoundVisible> Viewers::visible(std::shared_ptr<Viewer> viewer) {
  if (!viewer->logged_in()) return FoundVisible{.visible = Visible::all()};
  if (viewer->visible_ != nullptr && waiters_.loop().now() < viewer->visible_until_) {
    return FoundVisible{.visible = viewer->visible_};
  }
  return wait(std::move(viewer));
}

net::Task<FoundVisible> Viewers::wait(std::shared_ptr<Viewer> viewer) {
  while (viewer->finding_) {
    CallWaiter waiter(waiters_);
    viewer->waiting_.push_back(&*waiter);
    const net::Wake wake = co_await (*waiter).wait(net::kNever);
    std::erase(viewer->waiting_, &*waiter);
    if (wake == net::Wake::kCancelled) co_return FoundVisible{.fault = "the server is stopping"};
    if (viewer->finding_) continue;
    if (viewer->visible_ != nullptr && waiters_.loop().now() < viewer->visible_until_) {
      co_return FoundVisible{.visible = viewer->visible_};
    }
  }
  viewer->finding_ = true;
  const net::Time began = waiters_.loop().now();
  Listable listable = listable_();
  FoundVisible found =
      co_await find_visible(viewer->client_, waiters_, std::move(listable.kinds), std::move(listable.spaces));
  const net::Time now = waiters_.loop().now();
  viewer->visible_ = found.visible;
  viewer->visible_until_ = now + std::max<net::Duration>(kVisibleFor, kTimesAsLong * (now - began));
  viewer->finding_ = false;
  for (net::Waiter* one : viewer->waiting_) one->wake_later();
  co_return found;
}

}  // namespace edge::edgectl::web
