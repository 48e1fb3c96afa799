#include "agent/bgp/speaker.h"

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <ifaddrs.h>
#include <poll.h>
#include <unistd.h>

#include "agent/bgp/configuration.h"
#include "agent/bgp/control.h"
#include "agent/bgp/process.h"

namespace edge::agent::bgp {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kEstablished = "Established";
constexpr auto kBeat = milliseconds(500);
constexpr auto kLook = seconds(1);
/// While a session is not there, it may come at any time.
constexpr auto kLookSoon = milliseconds(200);
constexpr auto kTryControl = milliseconds(10);
constexpr auto kSettle = seconds(2);
constexpr auto kFirstPause = seconds(1);
constexpr auto kLongestPause = seconds(30);
/// It runs for so long that what it ended of is over.
constexpr auto kStable = seconds(60);

/// The lowest IPv4 address of the node that is not announced itself; without one, a number that its name makes.
std::uint32_t router_id_of(const std::string& node, const std::vector<Announcement>& announced) {
  std::uint32_t lowest = 0;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) == 0) {
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
      const auto address = ntohl(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
      constexpr std::uint32_t kLoopback = 127;
      const bool own = std::ranges::any_of(announced, [&](const Announcement& vip) {
        const auto& bytes = vip.address.bytes;
        return vip.address.is_v4() && (std::uint32_t{bytes[12]} << 24 | std::uint32_t{bytes[13]} << 16 |
                                       std::uint32_t{bytes[14]} << 8 | bytes[15]) == address;
      });
      if (own || address >> 24 == kLoopback || address == 0) continue;
      if (lowest == 0 || address < lowest) lowest = address;
    }
    ::freeifaddrs(all);
  }
  if (lowest != 0) return lowest;
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : node) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash == 0 ? 1 : hash;
}

/// As a whole, for its owner alone. Not synced: it is written anew by every process.
bool put_file(int directory, const char* name, std::string_view text) {
  const std::string fresh = std::string(name) + ".new";
  const net::Fd fd(::openat(directory, fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  while (fd.valid() && !text.empty()) {
    const ssize_t size = ::write(fd.get(), text.data(), text.size());
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return fd.valid() && ::renameat(directory, fresh.c_str(), directory, name) == 0;
}

}  // namespace

struct Speaker::Impl {
  SpeakerOptions options;
  net::Fd directory;
  net::Fd wake;
  std::thread thread;

  mutable std::mutex mutex;  ///< guards what follows
  std::condition_variable settled;
  std::vector<Announcement> wanted;
  std::uint64_t wanted_version = 0;
  std::uint64_t settled_version = 0;
  SpeakerState state;
  bool stopping = false;
  bool handed_over = false;

  // Of the thread.
  std::uint32_t router_id = 0;
  std::vector<Announcement> announcements;
  std::uint64_t version = 0;
  Configuration configuration;
  std::string written_sessions;
  std::string written_routes;
  std::optional<Process> process;
  std::optional<Control> control;
  bool configured = false;  ///< BIRD has what was written
  bool reported = false;    ///< that it does not run
  Clock::time_point began;
  Clock::time_point next_start;
  Clock::time_point next_look;
  Clock::duration pause = kFirstPause;

  void run();
  void wait(Clock::duration most) const;
  bool take();
  void work();
  void start();
  void ended(const std::string& why);
  bool write();
  void configure();
  void look();
  void settle();
  void publish(SpeakerState next);
  SpeakerState blank() const;
  void wake_up() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake.get(), &one, sizeof one);
  }
};

void Speaker::Impl::wait(Clock::duration most) const {
  pollfd polled{wake.get(), POLLIN, 0};
  ::poll(&polled, 1, static_cast<int>(std::chrono::ceil<milliseconds>(most).count()));
  if (polled.revents == 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = ::read(wake.get(), &count, sizeof count);
}

/// False: the thread is to end.
bool Speaker::Impl::take() {
  const std::lock_guard lock(mutex);
  if (stopping) return false;
  if (!handed_over && version != wanted_version) {
    announcements = wanted;
    version = wanted_version;
    configured = false;
  }
  return true;
}

void Speaker::Impl::run() {
  // A FIFO that nobody reads any more is told by the write.
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  if (auto adopted = Process::adopt(directory.get())) {
    options.log.info("continues with the BIRD that the previous process started");
    process.emplace(std::move(*adopted));
    began = Clock::now();
  }
  while (take()) {
    work();
    const bool connects = process && !control && version != 0;
    const auto left = std::max<Clock::duration>(next_look - Clock::now(), milliseconds(1));
    wait(connects ? Clock::duration(kTryControl) : control ? std::min<Clock::duration>(kBeat, left) : kBeat);
  }
  if (!process) return;
  bool over = false;
  {
    const std::lock_guard lock(mutex);
    over = handed_over;
  }
  over ? process->let_go() : process->end();
}

void Speaker::Impl::work() {
  if (version == 0) {
    // Nothing was said yet: what runs goes on.
    if (process && !process->beat()) process.reset();
    return;
  }
  if (announcements.empty()) {
    control.reset();
    process.reset();
    reported = false;
    next_start = {};
    if (!configured) publish({});
    configured = true;
    return settle();
  }
  if (process && !process->beat()) ended("BIRD has ended");
  if (!process && Clock::now() >= next_start) start();
  if (!process) return settle();
  if (!control) {
    auto opened = Control::open(directory.get(), "bird.ctl");
    if (opened) control.emplace(std::move(*opened));
    if (!control && Clock::now() - began > kSettle) {
      process.reset();
      return ended("BIRD does not start; see bird.log in " + options.directory);
    }
    if (!control) return;
  }
  if (!configured) configure();
  settle();
  if (control && Clock::now() >= next_look) look();
  if (Clock::now() - began > kStable) pause = kFirstPause;
}

void Speaker::Impl::start() {
  if (!write()) return;
  auto started = Process::start(directory.get(), options.directory, options.program, configuration.graceful_restart);
  if (!started) return ended(started.error().text);
  process.emplace(std::move(*started));
  configured = false;
  began = Clock::now();
  next_look = {};
}

/// Tried again, with longer and longer pauses; told once.
void Speaker::Impl::ended(const std::string& why) {
  control.reset();
  process.reset();
  next_start = Clock::now() + pause;
  pause = std::min<Clock::duration>(pause * 2, kLongestPause);
  if (!std::exchange(reported, true))
    options.log.warn(why + "; no address is announced by BGP", {{"directory", options.directory}});
  SpeakerState next = blank();
  next.fault = why;
  next.running = false;
  publish(std::move(next));
}

/// False: it cannot be written, which is told.
bool Speaker::Impl::write() {
  if (router_id == 0) router_id = router_id_of(options.node, announcements);
  configuration = write_configuration(announcements, router_id);
  const auto put = [&](const char* name, const std::string& text, std::string& written) {
    if (text == written) return true;
    // With passwords in it.
    const bool done = put_file(directory.get(), name, text);
    if (done) written = text;
    if (!done) ended("cannot write " + options.directory + "/" + name);
    return done;
  };
  return put(kRoutesFile, configuration.routes, written_routes) &&
         put("bird.conf", configuration.sessions, written_sessions);
}

void Speaker::Impl::configure() {
  if (!write()) return;
  const auto answer = control->ask("configure");
  if (!answer && answer.error().code == ErrorCode::kUnavailable) return ended(answer.error().text);
  configured = true;
  next_look = {};
  if (answer) {
    if (std::exchange(reported, false)) options.log.info("announces addresses by BGP");
    return;
  }
  // It goes on with what it had.
  SpeakerState next = blank();
  next.fault = answer.error().text;
  if (!std::exchange(reported, true)) options.log.error(next.fault);
  publish(std::move(next));
}

SpeakerState Speaker::Impl::blank() const {
  SpeakerState next;
  next.running = process.has_value();
  next.faults = configuration.faults;
  for (const Session& session : configuration.all) {
    next.sessions.push_back({.peer = peer_text(session.peer),
                             .peer_as = session.peer.as_number,
                             .state = "Down",
                             .last_error = {},
                             .bfd = {},
                             .vips = session.vips});
  }
  return next;
}

void Speaker::Impl::look() {
  const auto sessions = control->ask("show protocols all");
  const bool watched = std::ranges::any_of(configuration.all, &Session::bfd);
  const auto bfd = watched ? control->ask("show bfd sessions") : Result<std::string>(std::string());
  for (const auto* const answer : {&sessions, &bfd}) {
    if (!*answer && answer->error().code == ErrorCode::kUnavailable) return ended(answer->error().text);
  }
  const auto known = read_sessions(sessions ? *sessions : std::string());
  const auto seen = read_bfd(bfd ? *bfd : std::string());
  SpeakerState next = blank();
  {
    const std::lock_guard lock(mutex);
    next.fault = reported ? state.fault : std::string();
  }
  bool all = true;
  for (std::size_t i = 0; i < configuration.all.size(); ++i) {
    const Session& session = configuration.all[i];
    SessionState& into = next.sessions[i];
    if (const auto found = known.find(session.name); found != known.end()) {
      if (found->second.state == kEstablished) into.state = kEstablished;
      into.since_ms = found->second.since_ms;
      into.last_error = found->second.last_error;
      into.announced = found->second.announced;
    }
    all = all && into.established();
    if (!session.bfd) continue;
    const auto found = seen.find(to_string(session.peer.address));
    into.bfd = found == seen.end() ? "Down" : found->second;
  }
  next_look = Clock::now() + (all ? Clock::duration(kLook) : Clock::duration(kLookSoon));
  publish(std::move(next));
}

void Speaker::Impl::settle() {
  {
    const std::lock_guard lock(mutex);
    settled_version = version;
  }
  settled.notify_all();
}

void Speaker::Impl::publish(SpeakerState next) {
  {
    const std::lock_guard lock(mutex);
    if (next == state) return;
    state = std::move(next);
  }
  if (options.changed) options.changed();
}

Speaker::Speaker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Speaker>> Speaker::start(SpeakerOptions options) {
  auto impl = std::make_unique<Impl>();
  if (::mkdir(options.directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return Error{ErrorCode::kUnavailable,
                 "cannot make " + options.directory + ": " + std::generic_category().message(errno)};
  }
  impl->directory = net::Fd(::open(options.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!impl->directory.valid()) return Error{ErrorCode::kUnavailable, "cannot open " + options.directory};
  impl->wake = net::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  impl->options = std::move(options);
  std::unique_ptr<Speaker> speaker(new Speaker(std::move(impl)));
  speaker->impl_->thread = std::thread([own = speaker->impl_.get()] { own->run(); });
  return speaker;
}

bool Speaker::runs(const std::string& directory) {
  const net::Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.valid() && Process::is_there(fd.get());
}

Speaker::~Speaker() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake_up();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void Speaker::announce(std::vector<Announcement> announcements) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->wanted_version != 0 && announcements == impl_->wanted) return;
    impl_->wanted = std::move(announcements);
    ++impl_->wanted_version;
  }
  impl_->wake_up();
}

void Speaker::settle() {
  std::unique_lock lock(impl_->mutex);
  impl_->settled.wait_for(lock, kSettle, [&] { return impl_->settled_version == impl_->wanted_version; });
}

SpeakerState Speaker::state() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->state;
}

void Speaker::hand_over() {
  const std::lock_guard lock(impl_->mutex);
  impl_->handed_over = true;
}

}  // namespace edge::agent::bgp
