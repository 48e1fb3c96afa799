#include "agent/bgp/control.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include <poll.h>
#include <unistd.h>

namespace edge::agent::bgp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(2);
constexpr std::size_t kMaxReply = 4 << 20;
constexpr std::size_t kMaxText = 256;
constexpr int kRefusals = 8000;

bool ready(int fd, short events, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  pollfd polled{fd, events, 0};
  return left.count() > 0 && ::poll(&polled, 1, static_cast<int>(left.count())) > 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trimmed(line)).empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    words.push_back(word);
    line.remove_prefix(word.size());
  }
  return words;
}

/// `2026-11-24` and `10:57:05`, of UTC, as BIRD is started with.
std::int64_t time_of(std::string_view day, std::string_view hour) {
  std::tm parts{};
  const std::string text = std::string(day) + " " + std::string(hour.substr(0, 8));
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d %2d:%2d:%2d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_hour, &parts.tm_min, &parts.tm_sec) != 6) {
    return 0;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  constexpr std::int64_t kMilliseconds = 1000;
  return static_cast<std::int64_t>(::timegm(&parts)) * kMilliseconds;
}

template <typename Each>
void each_line(std::string_view text, Each each) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    each(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

/// The text behind `name:`; empty: it is another line.
std::string_view value_in(std::string_view line, std::string_view name) {
  line = trimmed(line);
  return line.starts_with(name) ? trimmed(line.substr(name.size())) : std::string_view();
}

}  // namespace

Result<Control> Control::open(int directory, const char* name) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  // A path of any length is reached by its descriptor.
  std::snprintf(to.sun_path, sizeof to.sun_path, "/proc/self/fd/%d/%s", directory, name);
  net::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    return Error{ErrorCode::kUnavailable, "BIRD does not listen on its control socket"};
  }
  Control control(std::move(fd));
  if (const auto greeting = control.reply(); !greeting) return greeting.error();
  return control;
}

Result<std::string> Control::ask(std::string_view command) {
  const std::string line = std::string(command) + "\n";
  if (::send(fd_.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    return Error{ErrorCode::kUnavailable, "BIRD takes no command"};
  }
  return reply();
}

Result<std::string> Control::reply() {
  constexpr std::size_t kCode = 4;
  const auto until = Clock::now() + kPatience;
  std::string lines;
  int code = 0;
  for (;;) {
    const std::size_t end = read_.find('\n');
    if (end == std::string::npos) {
      char buffer[16 << 10];
      if (read_.size() > kMaxReply || lines.size() > kMaxReply || !ready(fd_.get(), POLLIN, until)) {
        return Error{ErrorCode::kUnavailable, "BIRD does not answer"};
      }
      const ssize_t size = ::read(fd_.get(), buffer, sizeof buffer);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (size <= 0) return Error{ErrorCode::kUnavailable, "BIRD has ended"};
      read_.append(buffer, static_cast<std::size_t>(size));
      continue;
    }
    const std::string line = read_.substr(0, end);
    read_.erase(0, end + 1);
    const bool coded = line.size() > kCode && line[0] >= '0' && line[0] <= '9';
    if (coded) std::from_chars(line.data(), line.data() + kCode, code);
    // What comes by itself begins with `+`.
    if (!line.starts_with('+')) lines += line.substr(std::min(line.size(), coded ? kCode + 1 : 1)) + "\n";
    if (!coded || line[kCode] != ' ') continue;
    if (code < kRefusals) return lines;
    while (lines.ends_with('\n')) lines.pop_back();
    return Error{ErrorCode::kFailedPrecondition, "BIRD: " + lines.substr(0, kMaxText)};
  }
}

std::map<std::string, Heard> read_sessions(std::string_view reply) {
  std::map<std::string, Heard> all;
  Heard* current = nullptr;
  each_line(reply, [&](std::string_view line) {
    if (!line.starts_with(' ')) {
      // Name, Proto, Table, State, Since (day and hour), Info
      const auto words = words_of(line);
      const bool session = words.size() >= 6 && words[1] == "BGP";
      current = session ? &all[std::string(words[0])] : nullptr;
      if (session) current->since_ms = time_of(words[4], words[5]);
      return;
    }
    if (current == nullptr) return;
    if (const auto state = value_in(line, "BGP state:"); !state.empty()) current->state = state.substr(0, kMaxText);
    if (const auto error = value_in(line, "Last error:"); !error.empty())
      current->last_error = error.substr(0, kMaxText);
    if (const auto routes = value_in(line, "Routes:"); !routes.empty()) {
      // `0 imported, 1 exported, 0 preferred`
      const auto words = words_of(routes);
      for (std::size_t i = 1; i < words.size(); ++i) {
        std::uint64_t count = 0;
        if (!words[i].starts_with("exported")) continue;
        std::from_chars(words[i - 1].data(), words[i - 1].data() + words[i - 1].size(), count);
        current->announced += count;
      }
    }
  });
  return all;
}

std::map<std::string, std::string> read_bfd(std::string_view reply) {
  std::map<std::string, std::string> all;
  each_line(reply, [&](std::string_view line) {
    // Address, Interface, State, Since (day and hour), Interval, Timeout
    const auto words = words_of(line);
    if (words.size() < 5) return;
    for (const std::string_view state : {"Up", "Down", "Init", "AdminDown"}) {
      if (words[2] == state) all[std::string(words[0])] = state;
    }
  });
  return all;
}

}  // namespace edge::agent::bgp
