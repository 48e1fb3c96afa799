#include "agent/wan/tunnel/device.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/wan/tunnel/tunnels.h"

namespace edge::agent::wan {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(500);
constexpr auto kLongestPause = std::chrono::seconds(30);
/// A wireguard-go that has not made its link by then will not.
constexpr auto kStartTime = std::chrono::seconds(5);
/// Between attempts to reach a peer at its addresses in turn. A handshake is tried every five seconds.
constexpr auto kNextEndpoint = std::chrono::seconds(11);

/// Sources within tunnels are checked by keys. A strict check by routes, which may be a node's default, would drop
/// what comes by a tunnel that this node itself would not send by.
void loosen_source_check(const std::string& link) {
  const std::string path = "/proc/sys/net/ipv4/conf/" + link + "/rp_filter";
  const net::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return;
  [[maybe_unused]] const ssize_t written = ::write(fd.get(), "2", 1);
}

constexpr const char* kSocketFolder = "/var/run/wireguard";
/// One that was made a moment ago may not be listened at yet.
constexpr std::time_t kShortestLife = 60;

bool is_dead(const std::string& path) {
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  if (std::time(nullptr) - file.st_mtime < kShortestLife) return false;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) return false;
  std::memcpy(to.sun_path, path.c_str(), path.size());
  const net::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno == ECONNREFUSED;
}

}  // namespace

std::string TunnelDevice::socket() const { return std::string(kSocketFolder) + "/" + plan_.name + ".sock"; }

void TunnelDevice::remove_dead_sockets() {
  std::error_code none;
  for (std::filesystem::directory_iterator entry(kSocketFolder, none), end; !none && entry != end;
       entry.increment(none)) {
    const std::string name = entry->path().filename().string();
    const bool ours = name.starts_with(kDevicePrefix) && name.ends_with(".sock");
    if (ours && is_dead(entry->path().string())) ::unlink(entry->path().c_str());
  }
}

void TunnelDevice::change(PlannedDevice plan) {
  if (plan.endpoints != plan_.endpoints) {
    endpoint_ = 0;
    endpoint_set_ = {};
  }
  plan_ = std::move(plan);
}

void TunnelDevice::lose(SteadyTime now, std::string why) {
  child_.reset();
  wireguard_.reset();
  applied_.reset();
  set_up_ = false;
  link_ = 0;
  state_ = {};
  fault_ = std::move(why);
  pause_ = std::clamp<std::chrono::milliseconds>(pause_ * 2, kFirstPause, kLongestPause);
  next_start_ = now + pause_;
}

void TunnelDevice::make(Rtnetlink& kernel, Engine& engine, SteadyTime now) {
  if (now < next_start_) return;
  started_ = now;
  if (!engine.try_kernel(now)) return start_program(now);
  const Status made = kernel.add_wireguard(plan_.name);
  if (made) {
    // First of all: one without it is not the agent's for any process that follows this one.
    if (const Status named = kernel.set_alias(plan_.name, plan_.alias); !named) {
      [[maybe_unused]] const Status removed = kernel.remove_link(plan_.name);
      return lose(now, named.error().text);
    }
    wireguard_.emplace(plan_.name, std::string());
    fault_.clear();
    return;
  }
  // What is not the module's fault a wireguard-go would fail by, too.
  const ErrorCode code = made.error().code;
  if (code == ErrorCode::kPermissionDenied || code == ErrorCode::kAlreadyExists) return lose(now, made.error().text);
  engine.kernel_failed(now);
  start_program(now);
}

void TunnelDevice::start_program(SteadyTime now) {
  const std::string program = find_system_program("wireguard-go");
  if (program.empty())
    return lose(now, "this kernel has no WireGuard, and there is no wireguard-go (package wireguard-go)");
  // One that was killed leaves its socket.
  ::unlink(socket().c_str());
  auto child = Child::start(program, {"-f", plan_.name});
  if (!child) return lose(now, child.error().text);
  child_ = std::move(*child);
  wireguard_.emplace(plan_.name, socket());
  fault_.clear();
}

void TunnelDevice::set_up(Rtnetlink& kernel, const Link& link, const IpAddress& overlay, std::uint32_t mtu,
                          Engine& engine, SteadyTime now) {
  if (!wireguard_->ready()) return;
  if (applied_ != plan_.settings) {
    std::optional<net::SocketAddress> endpoint;
    // One that is in use has found its way, which may not be by an address that is known.
    if (!applied_ && !plan_.endpoints.empty()) endpoint = plan_.endpoints.front();
    const Status status = wireguard_->set(plan_.settings, endpoint);
    if (!status && !child_ && !applied_ && status.error().code == ErrorCode::kNotFound) {
      // The module makes links, and cannot be asked.
      [[maybe_unused]] const Status removed = kernel.remove_link(link.index);
      engine.kernel_failed(now);
      return lose(now, status.error().text);
    }
    fault_ = status ? std::string() : status.error().text;
    if (!status) return;
    applied_ = plan_.settings;
    endpoint_set_ = std::chrono::steady_clock::now();
  }
  Status status;
  if (link.alias != plan_.alias || link.mtu != mtu || !link.up) status = kernel.set_link(link.index, plan_.alias, mtu);
  if (status && !set_up_) {
    loosen_source_check(plan_.name);
    status = kernel.add_address(link.index, overlay);
  }
  fault_ = status ? std::string() : status.error().text;
  if (!status) return;
  link_ = link.index;
  set_up_ = true;
  pause_ = {};
}

void TunnelDevice::work(Rtnetlink& kernel, const std::vector<Link>& links, Engine& engine, const IpAddress& overlay,
                        std::uint32_t mtu, SteadyTime now) {
  const auto found = std::ranges::find(links, plan_.name, &Link::name);
  const bool there = found != links.end();
  if (child_ && !child_->running()) return lose(now, "wireguard-go has ended");
  if (!wireguard_) {
    // A link of the kernel's that an earlier process left goes on with its sessions. One of a wireguard-go ends with
    // it.
    const bool ours = there && found->alias.starts_with(kAliasPrefix);
    if (there && !ours) return lose(now, "there is a link " + plan_.name + " that is not the agent's");
    if (ours && kernel_wireguard(plan_.name)) {
      wireguard_.emplace(plan_.name, std::string());
    } else {
      if (!there) make(kernel, engine, now);
      return;
    }
  }
  if (!there) {
    const bool waits = child_ && !set_up_ && now - started_ < kStartTime;
    if (!waits && (set_up_ || now - started_ >= kStartTime)) lose(now, "its link is gone");
    return;
  }
  if (set_up_ && found->index != link_) return lose(now, "its link was replaced");
  set_up(kernel, *found, overlay, mtu, engine, now);
}

void TunnelDevice::look(std::chrono::seconds wall, SteadyTime now) {
  if (!set_up_) return;
  auto state = wireguard_->state();
  if (!state) {
    fault_ = state.error().text;
    return;
  }
  state_ = *state;
  const bool up = state_.handshake && wall - *state_.handshake < kSessionLife;
  if (up || plan_.endpoints.empty() || now - endpoint_set_ < kNextEndpoint) return;
  endpoint_ = (endpoint_ + 1) % plan_.endpoints.size();
  endpoint_set_ = now;
  // The same one again, too: it may have roamed to where nobody answers any more.
  [[maybe_unused]] const Status status = wireguard_->set_endpoint(plan_.settings.peer_key, plan_.endpoints[endpoint_]);
}

/// The one that was made, and has not been set up; 0: there is none.
int TunnelDevice::own_link(Rtnetlink& kernel) const {
  const auto links = kernel.links();
  if (!wireguard_ || !links) return 0;
  const auto found = std::ranges::find(links->links, plan_.name, &Link::name);
  return found != links->links.end() && found->alias.starts_with(kAliasPrefix) ? found->index : 0;
}

void TunnelDevice::remove(Rtnetlink& kernel) {
  const bool program = child_.has_value();
  child_.reset();
  if (program) ::unlink(socket().c_str());
  set_up_ = false;
  if (program) return;
  if (link_ == 0) link_ = own_link(kernel);
  if (link_ == 0) return;
  // One that is gone already is as good as removed.
  [[maybe_unused]] const Status status = kernel.remove_link(link_);
}

}  // namespace edge::agent::wan
