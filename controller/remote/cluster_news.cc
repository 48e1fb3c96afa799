// What the clusters that connect are told of each other, and what they say that they export.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "controller/remote/remote_clusters.h"

namespace edge::controller::remote {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostNewsAtOnce = 8;
constexpr auto kBetweenNews = 400ms;

}  // namespace

/// Which clusters may call which, from their objects and what was revoked. Not before all are known: what was kept of
/// one would be forgotten.
void RemoteClusters::tell_traffic() {
  if (options_.traffic == nullptr || authority_ == nullptr) return;
  const std::lock_guard turn(traffic_turn_);
  {
    const std::lock_guard lock(mutex_);
    if (!synced_ || stopping_) return;
  }
  if (options_.shares_traffic && options_.leads && !options_.leads()) return options_.traffic->follow();
  std::map<std::string, TrafficTerms> terms;
  {
    const std::lock_guard lock(mutex_);
    if (!synced_ || stopping_) return;
    for (const auto& [name, entry] : entries_) {
      const RemoteSpec& spec = holder_of(entry).second;
      // One that is kept out is nobody's peer.
      if (spec.suspended) continue;
      const auto revoked = authority_->remote_revoked_until(name).time_since_epoch();
      terms[name] = {.region = spec.region,
                     .namespaces = spec.export_namespaces,
                     .issued_after_ms = static_cast<std::uint64_t>(
                         std::chrono::duration_cast<std::chrono::milliseconds>(revoked).count()),
                     .connected = entry.link.has_value()};
    }
  }
  options_.traffic->set_clusters(std::move(terms), *authority_);
}

/// A few at a time: a spoke takes fifty words a second, probes among them.
void RemoteClusters::add_news(const std::string& name, Entry& entry, std::vector<Word>& words) const {
  if (options_.traffic == nullptr || now() < entry.next_news) return;
  std::vector<Word> news = options_.traffic->news_for(name, entry.news, kMostNewsAtOnce);
  if (news.empty()) return;
  entry.next_news = now() + kBetweenNews;
  words.insert(words.end(), std::make_move_iterator(news.begin()), std::make_move_iterator(news.end()));
}

/// In turn with `tell_traffic`: what is told of a moment before the cluster was let in does not forget them.
void RemoteClusters::take_exports(const Connection& connection, const Exports& exports) {
  if (options_.traffic == nullptr) return;
  const std::lock_guard turn(traffic_turn_);
  std::string cluster;
  {
    const std::lock_guard lock(mutex_);
    const auto known = connected_.find(&connection);
    if (known == connected_.end()) return;
    cluster = known->second;
  }
  options_.traffic->take_exports(cluster, exports);
}

}  // namespace edge::controller::remote
