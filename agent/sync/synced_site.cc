#include "agent/sync/synced_site.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "agent/sync/received_links.h"
#include "agent/wan/site/site.h"
#include "base/hash.h"
#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

constexpr auto kReportEvery = std::chrono::seconds(5);
/// How often it is looked who holds the site.
constexpr auto kLook = std::chrono::milliseconds(200);

/// Of ProxyGateways, which are what policies name.
std::vector<runtime::GatewayMark> marks_of(const std::vector<wan::GatewayTurn>& turns) {
  std::vector<runtime::GatewayMark> marks;
  for (const wan::GatewayTurn& turn : turns) {
    const std::size_t slash = turn.gateway.find('/');
    if (slash == std::string::npos) continue;
    const std::string_view name = turn.gateway;
    marks.push_back({.gateway = stable_id("ProxyGateway", name.substr(0, slash), name.substr(slash + 1)),
                     .mark = turn.mark,
                     .turn = turn.turn});
  }
  return marks;
}

}  // namespace

SyncedSite::~SyncedSite() { end(); }

/// kUnavailable: another process has the site yet.
Status SyncedSite::start() {
  net::Fd lock(::open(options_.lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!lock.valid()) return Error{ErrorCode::kInternal, "cannot open " + options_.lock_file};
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::kUnavailable, "another process has the site yet"};
  }
  auto started = wan::Site::start(
      {.log = service_.log(), .changed = {}, .gateways = [this](const std::vector<wan::GatewayTurn>& turns) {
         service_.set_route_marks(marks_of(turns));
       }});
  if (!started) return Error{ErrorCode::kInternal, started.error().text};
  lock_ = std::move(lock);
  site_ = std::move(*started);
  figures_ = service_.metrics().add([own = site_](metrics::Exposition& out) { own->write_metrics(out); });
  return {};
}

/// With the mutex. Nodes of no site have nothing to do with it, but for what an earlier process may have left.
void SyncedSite::set(const std::string& message) {
  auto assignment = read_links(message);
  if (!assignment) return;
  const std::string name = assignment->node.tunnels.site;
  if (site_ == nullptr) {
    if (name.empty() && !wan::WanNode::has_leftovers()) return;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    if (Status status = start(); !status) {
      if (status.error().code == ErrorCode::kUnavailable) waiting_ = message;
      if (!waiting_) service_.log().error("takes no part in the SD-WAN: " + status.error().text);
      return;
    }
  }
  name_ = name;
  site_->set(std::move(*assignment));
}

Status SyncedSite::take(const std::string& message) {
  if (auto assignment = read_links(message); !assignment) return assignment.error();
  const std::lock_guard lock(mutex_);
  waiting_.reset();
  if (!ended_) set(message);
  return {};
}

void SyncedSite::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (const auto waiting = std::exchange(waiting_, std::nullopt)) set(*waiting);
    // An assignment of no site takes everything away.
    if (site_ != nullptr) site_->set_active(name_.empty() || options_.holds(name_));
    changed_.wait_for(lock, kLook, [this] { return ended_; });
  }
}

std::string SyncedSite::report() {
  std::shared_ptr<wan::Site> site;
  {
    const std::lock_guard lock(mutex_);
    if (site_ == nullptr) return {};
    const auto now = std::chrono::steady_clock::now();
    const std::uint64_t changes = site_->changes();
    if (changes == reported_ && now < next_report_) return {};
    reported_ = changes;
    next_report_ = now + kReportEvery;
    site = site_;
  }
  v1::LinksReport report;
  write_links_report(site->state(), report);
  return report.SerializeAsString();
}

void SyncedSite::end() {
  std::shared_ptr<wan::Site> site;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    waiting_.reset();
    site = std::move(site_);
    if (site != nullptr) service_.metrics().leave_out(figures_);
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  // Its threads end without the lock: the last of them sets marks.
  if (site != nullptr && service_.superseded()) site->hand_over();
  site.reset();
  // Only now another process may begin.
  const std::lock_guard lock(mutex_);
  lock_.reset();
}

}  // namespace edge::agent
