#include "agent/vip/holder.h"

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "agent/vip/datagram.h"
#include "agent/vip/holder_impl.h"
#include "agent/vip/word_socket.h"

namespace edge::agent::vip {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// How often listeners and links are looked at, and what is held is refreshed: four times within its lifetime.
constexpr Time kLook = milliseconds(450);
/// After an address was taken, then for ever: there are switches that forget sooner than machines do.
constexpr std::array<Time, 6> kAnnounceAfter = {milliseconds(0),    milliseconds(100),  milliseconds(300),
                                                milliseconds(1000), milliseconds(3000), milliseconds(10'000)};
constexpr Time kAnnounceEvery = seconds(60);
/// RFC 5227 §2.4, DEFEND_INTERVAL.
constexpr Time kDefendEvery = seconds(10);
constexpr auto kLeave = seconds(2);
/// A process that takes over goes on with what is held, if it begins so soon after.
constexpr Time kHandover = milliseconds(1500);

}  // namespace

Time boot_time() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

const VirtualAddress* Holder::Impl::find(std::uint64_t id) const {
  const auto found = std::ranges::lower_bound(addresses.addresses, id, {}, &VirtualAddress::id);
  return found != addresses.addresses.end() && found->id == id ? &*found : nullptr;
}

void Holder::Impl::tell(const std::string& fault) {
  if (fault == reported) return;
  reported = fault;
  if (!fault.empty()) options.log.warn(fault);
}

void Holder::Impl::wait() {
  std::array<pollfd, 5> polled{};
  polled[0] = {wake.get(), POLLIN, 0};
  polled[1] = {netlink.events(), POLLIN, 0};
  polled[2] = {words.valid() ? words.get() : -1, POLLIN, 0};
  polled[3] = {neighbours ? neighbours->arp() : -1, POLLIN, 0};
  polled[4] = {neighbours ? neighbours->advertisements() : -1, POLLIN, 0};
  const Time left = std::max(next_beat - boot_time(), Time(0));
  ::poll(polled.data(), polled.size(), static_cast<int>(std::chrono::ceil<milliseconds>(left).count()));
  if (polled[0].revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t read = ::read(wake.get(), &count, sizeof count);
  }
  if (polled[1].revents != 0) {
    netlink.drain();
    look = true;
  }
}

void Holder::Impl::run() {
  for (;;) {
    wait();
    {
      const std::lock_guard lock(mutex);
      if (stopping) return;
      const Time time = boot_time();
      if (!words.valid() && !quiet && !addresses.addresses.empty()) begin_to_hear(time);
      if (!quiet && addresses.version != 0) {
        hear();
        hear_claims();
        if (look || time >= next_look) look_around(time);
        step(time);
      } else {
        next_beat = time + kBeat;
      }
    }
    stepped.notify_all();
  }
}

/// A process before this one hears as long as it holds something. What it hands over goes on here.
void Holder::Impl::begin_to_hear(Time time) {
  auto opened = open_words(options.listen);
  tell(opened ? "" : opened.error().text);
  look = true;
  if (!opened) return;
  words = std::move(*opened);
  const State before = read_state(options.state_file);
  if (time < before.handed_over || time - before.handed_over > kHandover) return;
  for (const auto& [id, epoch] : before.held) {
    if (find(id) != nullptr) assignment.adopt(id, epoch);
  }
}

void Holder::Impl::hear() {
  std::array<char, kMaxDatagram> datagram;
  for (int i = 0; words.valid() && i < 1000; ++i) {
    sockaddr_in6 from{};
    socklen_t length = sizeof from;
    const ssize_t size =
        ::recvfrom(words.get(), datagram.data(), datagram.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) break;
    const auto word = read_datagram({datagram.data(), static_cast<std::size_t>(size)}, addresses.key);
    // One that is repeated by somebody else is old.
    if (!word || !assignment.hear(*word, boot_time())) continue;
    net::SocketAddress& entry = heard_at[word->node];
    std::memcpy(entry.address.bytes.data(), &from.sin6_addr, entry.address.bytes.size());
    entry.port = ntohs(from.sin6_port);
  }
}

void Holder::Impl::hear_claims() {
  for (int i = 0; neighbours && i < 1000; ++i) {
    const auto claimed = neighbours->next();
    if (!claimed) return;
    for (const auto& [id, mine] : kept) {
      if (mine.address != claimed->address || mine.link != claimed->link) continue;
      const auto link = netlink.links().find(mine.link);
      if (link == netlink.links().end() || link->second.mac == claimed->mac) continue;
      if (const VirtualAddress* const address = find(id)) conflict(*address, *claimed, boot_time());
      break;
    }
  }
}

/// Agents that hear each other agree by their words. One that is not heard, or a machine that is none of ours, is
/// answered as RFC 5227 §2.4 has it, or given way to.
void Holder::Impl::conflict(const VirtualAddress& address, const Claimed& claimed, Time time) {
  const auto held = assignment.held().find(address.id);
  if (held == assignment.held().end()) return;
  // Who gave it away, or took it, announces it on its way.
  // After a standstill another one may have taken it, and says so soon.
  if (!assignment.sure() || !held->second.offered_to.empty() || time - held->second.since < kListen) return;
  Facts& fact = facts[address.id];
  ++fact.conflicts;
  fact.conflict = "the machine " + mac_text(claimed.mac) + " has " + to_string(address.address) + " too";
  if (time < fact.defended) return;
  fact.defended = time + kDefendEvery;
  options.log.warn(fact.conflict, {{"vip", address.name_space + "/" + address.name}});
  if (assignment.yields_to_unheard(address.id)) {
    fact.yielded = time + kDefendEvery;
    look = true;
  } else {
    kept[address.id].next_announcement = time;
  }
}

void Holder::Impl::look_around(Time time) {
  next_look = time + kLook;
  look = false;
  if (Status status = netlink.refresh(); !status) return tell(status.error().text);
  if (!neighbours && rights.net_raw) {
    auto opened = Neighbours::open();
    if (opened) neighbours.emplace(std::move(*opened));
    if (!opened) rights.net_raw = false;
  }
  const std::vector<ServedAddress> served = options.served();
  bool came = false;
  for (const VirtualAddress& address : addresses.addresses) {
    if (leaving) break;
    Facts& fact = facts[address.id];
    const auto mine = kept.find(address.id);
    const bool bgp = address.mode == Mode::kBgp;
    const int link = bgp                  ? announcer.link(address.id)
                     : mine == kept.end() ? connections.link(address.id)
                                          : mine->second.link;
    const bool permitted = fact.placement.unfit != Unfit::kNotPermitted;
    fact.placement = place(address, labels, served, rights, netlink, link);
    if (permitted && fact.placement.unfit == Unfit::kNotPermitted) {
      options.log.warn("cannot hold a virtual address", {{"vip", address.name_space + "/" + address.name},
                                                         {"address", to_string(address.address)},
                                                         {"reason", fact.placement.reason}});
    }
    if (!words.valid() && fact.placement.unfit == Unfit::kNo) {
      fact.placement = {.serves = Serves::kNone, .unfit = Unfit::kDeaf, .reason = reported};
    }
    if (time < fact.yielded) {
      fact.placement = {.serves = Serves::kNone, .unfit = Unfit::kConflict, .reason = fact.conflict};
    } else if (fact.yielded != Time(0) || (fact.defended != Time(0) && time > fact.defended + kDefendEvery)) {
      fact.yielded = fact.defended = {};
      fact.conflict.clear();
    }
    if (bgp) came = announcer.hold(address, fact.placement, netlink) || came;
    assignment.set_serves(address.id, fact.placement.serves);
  }
  announcer.sweep(addresses.addresses, netlink);
  if (came && options.moved) options.moved();
  if (assignment.sure()) refresh(time);
  connections.refresh(netlink, time);
}

void Holder::Impl::step(Time time) {
  const std::vector<Move> changes = assignment.step(time);
  for (const Move& move : changes) apply(move, time);
  connections.look_at_nodes(assignment);
  announce(time);
  // As long as others were not heard, what a process before this one announces stays as it is.
  if (words.valid() && assignment.sure()) {
    announcer.step(addresses.addresses, assignment, state.drained || leaving, time);
  }
  if (!changes.empty() && options.moved) options.moved();
  say(time);
}

void Holder::Impl::apply(const Move& move, Time time) {
  Facts& fact = facts[move.id];
  fact.cause = to_string(move.cause);
  fact.from = move.held ? move.other : options.name;
  ++moves[static_cast<std::size_t>(move.cause)];
  const VirtualAddress* const address = find(move.id);
  const std::string name = address == nullptr ? std::string() : address->name_space + "/" + address->name;
  const bool site = address != nullptr && address->mode == Mode::kSite;
  options.log.info(site        ? (move.held ? "holds the tunnels of a site" : "holds the tunnels of a site no longer")
                   : move.held ? "takes a virtual address"
                               : "releases a virtual address",
                   {{site ? "site" : "vip", name},
                    {"address", address == nullptr ? std::string() : to_string(address->address)},
                    {"epoch", std::to_string(move.epoch)},
                    {"cause", fact.cause},
                    {move.held ? "from" : "to", move.other}});
  if (!move.held) {
    if (fact.yielded == Time(0)) fact.conflict.clear();
    give(move, time);
    return let_go(move.id);
  }
  take_over(move, time);
}

/// What sends packets of the node before on is there before the first of them comes.
void Holder::Impl::take_over(const Move& move, Time time) {
  const VirtualAddress* const address = find(move.id);
  const auto link = netlink.links().find(facts[move.id].placement.link);
  const AddressWord* const before = move.planned ? assignment.word_of_node(move.other, move.id) : nullptr;
  if (before != nullptr && address != nullptr && link != netlink.links().end()) {
    connections.send_on(move.id, address->address, link->second, move.other, before->mac);
  }
  if (!keep(move.id, time)) assignment.set_serves(move.id, Serves::kNone);
  connections.end_keeping(move.id, netlink);
}

void Holder::Impl::give(const Move& move, Time time) {
  const auto mine = kept.find(move.id);
  const auto link = netlink.links().find(mine == kept.end() ? 0 : mine->second.link);
  if (!move.planned || link == netlink.links().end() ||
      !connections.keep(move.id, mine->second.address, link->second, netlink, time)) {
    connections.end_sending_on(move.id);
  }
}

bool Holder::Impl::keep(std::uint64_t id, Time time) {
  const VirtualAddress* const address = find(id);
  const Facts& fact = facts[id];
  if (address == nullptr || fact.placement.link == 0) return address != nullptr;
  const auto [entry, fresh] = kept.try_emplace(id);
  Kept& mine = entry->second;
  if (fresh) {
    mine = {.link = fact.placement.link,
            .address = address->address,
            .prefix_length = fact.placement.prefix_length,
            .since = time,
            .next_announcement = time};
  }
  const Status status = netlink.keep(mine.link, mine.address, mine.prefix_length);
  if (status) return true;
  tell("cannot hold " + to_string(mine.address) + ": " + status.error().text);
  if (status.error().code == ErrorCode::kPermissionDenied) rights.net_admin = false;
  kept.erase(entry);
  return false;
}

void Holder::Impl::let_go(std::uint64_t id) {
  const auto found = kept.find(id);
  if (found == kept.end()) return;
  const Kept& mine = found->second;
  const Status status = netlink.remove(mine.link, mine.address, mine.prefix_length);
  if (!status && status.error().code != ErrorCode::kNotFound) tell(status.error().text);
  kept.erase(found);
  look = true;
}

/// A link, or an address, that the ProxyVIP now says otherwise is moved to.
void Holder::Impl::refresh(Time time) {
  for (const auto& [id, held] : assignment.held()) {
    const auto mine = kept.find(id);
    const VirtualAddress* const address = find(id);
    const int link = facts[id].placement.link;
    if (mine != kept.end() && address != nullptr &&
        (mine->second.address != address->address || (link != 0 && mine->second.link != link))) {
      let_go(id);
    }
    if (facts[id].placement.unfit == Unfit::kNo && !keep(id, time)) assignment.set_serves(id, Serves::kNone);
  }
}

void Holder::Impl::announce(Time time) {
  for (auto& [id, mine] : kept) {
    if (!neighbours || time < mine.next_announcement) continue;
    const auto link = netlink.links().find(mine.link);
    if (link == netlink.links().end()) continue;
    if (Status status = neighbours->announce(link->second, mine.address); !status) tell(status.error().text);
    ++mine.announced;
    mine.next_announcement =
        mine.announced < kAnnounceAfter.size() ? mine.since + kAnnounceAfter[mine.announced] : time + kAnnounceEvery;
  }
}

/// With what other nodes need to know of connections: where they are sent on to.
Word Holder::Impl::word() {
  Word word = assignment.word();
  for (const VirtualAddress& address : addresses.addresses) {
    const auto mine = kept.find(address.id);
    const auto link = netlink.links().find(mine == kept.end() ? connections.link(address.id) : mine->second.link);
    if (link == netlink.links().end()) continue;
    auto at = std::ranges::lower_bound(word.addresses, address.id, {}, &AddressWord::id);
    if (at == word.addresses.end() || at->id != address.id)
      at = word.addresses.insert(at, {.id = address.id, .offered_to = {}});
    at->keeps = connections.keeps(address.id);
    at->mac = link->second.mac;
  }
  return word;
}

/// With every beat, and at once when something is another.
void Holder::Impl::say(Time time) {
  const Word word = this->word();
  if (time < next_beat && word.addresses == said) return;
  said = word.addresses;
  next_beat = time + kBeat;
  const std::string datagram = write_datagram(word, addresses.key);
  if (datagram.empty() || !words.valid()) return;
  std::map<std::string, net::SocketAddress> all = heard_at;
  all.insert(members.begin(), members.end());
  for (const auto& [name, address] : all) {
    if (name == options.name) continue;
    const sockaddr_in6 to = socket_address(address);
    // One that cannot be reached is one that does not hear.
    ::sendto(words.get(), datagram.data(), datagram.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
}

Holder::Holder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Holder>> Holder::start(HolderOptions options) {
  auto netlink = Netlink::open();
  if (!netlink) return netlink.error();
  State state = read_state(options.state_file);
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  state.instance = std::max(state.instance + 1, static_cast<std::uint64_t>(wall / milliseconds(1)));
  state.held.clear();
  if (Status status = write_state(options.state_file, state); !status) options.log.warn(status.error().text);
  auto impl = std::make_unique<Impl>(std::move(options), std::move(state), std::move(*netlink));
  impl->assignment.set_drained(impl->state.drained);
  impl->announcer.begin();
  impl->wake = net::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return std::unique_ptr<Holder>(new Holder(std::move(impl)));
}

Holder::~Holder() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake_up();
  if (impl_->thread.joinable()) impl_->thread.join();
  if (impl_->quiet) return;
  // The last word: others need not wait until this agent is missed.
  impl_->assignment.let_go();
  impl_->options.moved = {};
  impl_->step(boot_time());
  while (!impl_->kept.empty()) impl_->let_go(impl_->kept.begin()->first);
  for (const VirtualAddress& address : impl_->addresses.addresses) {
    impl_->connections.end_keeping(address.id, impl_->netlink);
  }
  impl_->announcer.stop(impl_->netlink);
}

void Holder::set_addresses(Addresses addresses) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (addresses.addresses.size() > kMaxAddresses) addresses.addresses.resize(kMaxAddresses);
    std::ranges::sort(addresses.addresses, {}, &VirtualAddress::id);
    std::vector<Rule> rules;
    for (const VirtualAddress& address : addresses.addresses) {
      rules.push_back({address.id, address.min_healthy_nodes, address.mode == Mode::kBgp});
    }
    for (const Member& member : addresses.members) impl_->members[member.name] = member.address;
    // Who starts an agent says it nearer than who labels its Node.
    impl_->labels = impl_->options.labels;
    impl_->labels.insert(addresses.node_labels.begin(), addresses.node_labels.end());
    impl_->addresses = std::move(addresses);
    impl_->assignment.set_rules(std::move(rules));
    for (const VirtualAddress& address : impl_->addresses.addresses) {
      impl_->assignment.remember_epoch(address.id, address.epoch);
    }
    std::erase_if(impl_->facts, [&](const auto& fact) { return impl_->find(fact.first) == nullptr; });
    impl_->look = true;
    // Where there was never an address there is nobody to hear.
    const bool starts = !impl_->thread.joinable() && !impl_->addresses.addresses.empty() && !impl_->stopping;
    if (starts) impl_->thread = std::thread([own = impl_.get()] { own->run(); });
  }
  impl_->wake_up();
}

void Holder::look_again() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->look = true;
  }
  impl_->wake_up();
}

std::uint64_t Holder::version() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->addresses.version;
}

std::uint16_t Holder::port() const {
  const std::lock_guard lock(impl_->mutex);
  sockaddr_in6 own{};
  socklen_t length = sizeof own;
  if (::getsockname(impl_->words.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0) return 0;
  return ntohs(own.sin6_port);
}

Status Holder::move(const std::string& name_space, const std::string& name, const std::string& to) {
  {
    const std::lock_guard lock(impl_->mutex);
    const auto& all = impl_->addresses.addresses;
    const auto found = std::ranges::find_if(all, [&](const VirtualAddress& one) {
      return one.mode != Mode::kSite && one.name_space == name_space && one.name == name;
    });
    if (found == all.end()) return Error{ErrorCode::kNotFound, "there is no ProxyVIP " + name_space + "/" + name};
    const std::string next = to.empty() ? impl_->assignment.successor(found->id) : to;
    if (!impl_->assignment.held().contains(found->id)) {
      const std::string holder = impl_->assignment.holder(found->id);
      return Error{ErrorCode::kFailedPrecondition,
                   "this agent does not hold it; " + (holder.empty() ? "nobody does" : holder + " does")};
    }
    if (next.empty() || !impl_->assignment.offer(found->id, next, boot_time())) {
      return Error{ErrorCode::kFailedPrecondition,
                   next.empty() ? "no other agent can hold it" : "the agent " + next + " cannot hold it"};
    }
    impl_->next_beat = {};
  }
  impl_->wake_up();
  return {};
}

Status Holder::drain(bool drained) {
  State state;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->state.drained = drained;
    impl_->assignment.set_drained(drained);
    impl_->next_beat = {};
    state = impl_->state;
  }
  impl_->wake_up();
  return write_state(impl_->options.state_file, state);
}

bool Holder::drained() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->state.drained;
}

void Holder::leave() {
  std::unique_lock lock(impl_->mutex);
  if (impl_->quiet) return;
  impl_->leaving = true;
  impl_->left_at = std::chrono::steady_clock::now();
  impl_->assignment.leave();
  impl_->next_beat = {};
  impl_->wake_up();
  const auto gone = [this] { return impl_->assignment.held().empty(); };
  const auto nobody = [this] { return impl_->assignment.live_nodes().size() < 2; };
  const auto quiet = [this] { return !impl_->connections.expects_connections(boot_time()); };
  impl_->stepped.wait_for(lock, kLeave, [&] { return (gone() || nobody()) && quiet() && impl_->announcer.departed(); });
}

void Holder::finish_forwarding() {
  std::unique_lock lock(impl_->mutex);
  const auto until = impl_->left_at + impl_->options.drain_timeout;
  impl_->stepped.wait_until(lock, until, [this] { return impl_->quiet || impl_->connections.sent_on() == 0; });
}

void Holder::hand_over() {
  State state;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->quiet) return;
    impl_->quiet = true;
    impl_->announcer.hand_over();
    impl_->words.reset();
    impl_->state.handed_over = boot_time();
    for (const auto& [id, held] : impl_->assignment.held()) impl_->state.held.emplace_back(id, held.epoch);
    state = impl_->state;
  }
  if (Status status = write_state(impl_->options.state_file, state); !status) {
    impl_->options.log.warn(status.error().text);
  }
}

}  // namespace edge::agent::vip
