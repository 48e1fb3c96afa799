#include "edgectl/observe/live_screen.h"

#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <termios.h>
#include <unistd.h>

namespace edge::edgectl {
namespace {

/// The other screen, so that what was there comes back; no cursor (xterm's control sequences, which all terminals of
/// today know).
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kEraseLine = "\x1b[K";
constexpr std::string_view kEraseBelow = "\x1b[J";

sigset_t screen_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH}) ::sigaddset(&set, number);
  return set;
}

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

/// Puts the terminal into raw mode: keys arrive one by one and are not echoed; Ctrl-C and Ctrl-Z still raise signals.
class RawTerminal {
 public:
  RawTerminal() : good_(::tcgetattr(STDIN_FILENO, &before_) == 0) { enter(); }
  ~RawTerminal() { leave(); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  void enter() {
    if (!good_ || inside_) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    inside_ = true;
    write_all(kEnter);
  }
  void leave() {
    if (!inside_) return;
    inside_ = false;
    write_all(kLeave);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

 private:
  termios before_{};
  bool good_;
  bool inside_ = false;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Shared by the refreshing and the drawing thread; lives until both have ended.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Drawing> fresh;
  bool wanted = true;
  bool over = false;
  bool busy = false;
  Descriptor ready{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  void want() {
    const std::lock_guard lock(mutex);
    wanted = true;
    changed.notify_all();
  }
  std::optional<Drawing> take() {
    std::uint64_t count = 0;
    if (::read(ready.get(), &count, sizeof count) < 0) return std::nullopt;
    const std::lock_guard lock(mutex);
    return std::exchange(fresh, std::nullopt);
  }
};

void refresh_on_demand(const std::shared_ptr<Shared>& shared, const Refresh& refresh) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->wanted || shared->over; });
    if (shared->over) return;
    shared->wanted = false;
    shared->busy = true;
    lock.unlock();
    Drawing drawing = refresh();
    lock.lock();
    shared->busy = false;
    shared->fresh = std::move(drawing);
    shared->changed.notify_all();
    const std::uint64_t one = 1;
    if (::write(shared->ready.get(), &one, sizeof one) < 0) continue;  // it is told already
  }
}

class LiveScreen {
 public:
  LiveScreen(std::shared_ptr<Shared> shared, std::chrono::milliseconds interval)
      : shared_(std::move(shared)), interval_(interval), signals_(open_signals()) {}

  int run() {
    auto next = std::chrono::steady_clock::now() + interval_;
    while (!exit_) {
      const auto left = next - std::chrono::steady_clock::now();
      const auto wait = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left).count(), std::int64_t{0});
      std::array<pollfd, 3> watched = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signals_.get(), POLLIN, 0},
                                       pollfd{shared_->ready.get(), POLLIN, 0}};
      if (::poll(watched.data(), watched.size(), static_cast<int>(wait)) < 0 && errno != EINTR) return 1;
      if (watched[0].revents != 0) take_keys();
      if (watched[1].revents != 0) take_signal();
      if (watched[2].revents != 0) take_drawing();
      if (std::chrono::steady_clock::now() >= next) {
        next = std::chrono::steady_clock::now() + interval_;
        shared_->want();
      }
    }
    return *exit_;
  }

 private:
  static int open_signals() {
    const sigset_t set = screen_signals();
    return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  void take_keys() {
    std::array<char, 64> keys{};
    const ssize_t got = ::read(STDIN_FILENO, keys.data(), keys.size());
    if (got <= 0) {
      exit_ = 0;
      return;
    }
    const std::string_view typed(keys.data(), static_cast<std::size_t>(got));
    if (typed.find_first_of("qQ") != std::string_view::npos) exit_ = 0;
    if (typed.find_first_of(" \n\r") != std::string_view::npos) shared_->want();
  }

  void take_signal() {
    signalfd_siginfo what{};
    if (::read(signals_.get(), &what, sizeof what) != static_cast<ssize_t>(sizeof what)) return;
    if (what.ssi_signo == SIGTSTP) {
      terminal_.leave();
      ::kill(::getpid(), SIGSTOP);
      terminal_.enter();
      draw();
    } else if (what.ssi_signo == SIGWINCH) {
      draw();
    } else {
      exit_ = 128 + static_cast<int>(what.ssi_signo);
    }
  }

  void take_drawing() {
    if (auto fresh = shared_->take()) drawing_ = std::move(*fresh);
    draw();
  }

  void draw() {
    if (!drawing_) return;
    const TerminalSize size = terminal_size();
    std::vector<std::string> lines = drawing_(size);
    if (lines.size() > size.rows) lines.resize(size.rows);
    std::string out(kHome);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      // The last line ends without a new one, which would scroll.
      out.append(cut_to(lines[i], size.columns)).append(kEraseLine).append(i + 1 < lines.size() ? "\n" : "");
    }
    out += kEraseBelow;
    if (!write_all(out)) exit_ = 1;
  }

  std::shared_ptr<Shared> shared_;
  std::chrono::milliseconds interval_;
  Descriptor signals_;
  RawTerminal terminal_;
  Drawing drawing_;
  std::optional<int> exit_;
};

}  // namespace

bool is_screen() {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || *term == '\0' || std::string_view(term) == "dumb";
  return !dumb && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

void keep_signals_for_screen() {
  const sigset_t set = screen_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int show_live(const Refresh& refresh, std::chrono::milliseconds interval) {
  const auto shared = std::make_shared<Shared>();
  std::thread worker([shared, refresh] { refresh_on_demand(shared, refresh); });
  const int exit = LiveScreen(shared, interval).run();
  {
    const std::lock_guard lock(shared->mutex);
    // It waits for a server, and uses what the caller is about to destroy. The terminal is as it was.
    if (shared->busy) std::_Exit(exit);
    shared->over = true;
    shared->changed.notify_all();
  }
  worker.join();
  return exit;
}

std::string cut_to(const std::string& text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (begins && seen++ == columns) return text.substr(0, i);
  }
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

}  // namespace edge::edgectl
