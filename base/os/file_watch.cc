#include "base/os/file_watch.h"

#include <sys/eventfd.h>
#include <sys/inotify.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <poll.h>
#include <unistd.h>

namespace edge {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxDirectories = 10'000;
constexpr int kMaxLinks = 16;
constexpr std::uint32_t kMask = IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE |
                                IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_ONLYDIR;

}  // namespace

struct FileWatch::Impl {
  int inotify = -1;
  int wake = -1;
  std::atomic<bool> stopped = false;
  /// By watch descriptor: the names that matter in the directory; empty: every name.
  std::map<int, std::set<std::string>> names;
  /// The descriptors that the last call of watch() has come upon.
  std::set<int> directories;

  ~Impl() {
    if (inotify >= 0) ::close(inotify);
    if (wake >= 0) ::close(wake);
  }

  /// `name` empty: the whole directory matters.
  Status add(const fs::path& directory, const std::string& name) {
    const int id = ::inotify_add_watch(inotify, directory.c_str(), kMask);
    if (id < 0) {
      const bool nowhere = errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENAMETOOLONG;
      const ErrorCode code = nowhere           ? ErrorCode::kNotFound
                             : errno == EACCES ? ErrorCode::kPermissionDenied
                                               : ErrorCode::kUnavailable;
      return Error{code, "cannot watch " + directory.string() + ": " + std::strerror(errno)};
    }
    if (directories.size() == kMaxDirectories && !directories.contains(id)) {
      return Error{ErrorCode::kResourceExhausted,
                   "more than " + std::to_string(kMaxDirectories) + " directories to watch"};
    }
    directories.insert(id);
    const auto [found, fresh] = names.try_emplace(id);
    if (name.empty()) {
      found->second.clear();
    } else if (fresh || !found->second.empty()) {
      found->second.insert(name);
    }
    return {};
  }

  /// The directory of every link on the way to the file, and the one that holds it in the end.
  Status add_file(fs::path path) {
    std::error_code error;
    for (int hops = 0; hops < kMaxLinks; ++hops) {
      const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
      if (Status status = add(directory, path.filename().string()); !status) return status;
      // ConfigMap volumes: `file` -> `..data/file`, and `..data` is what is swapped.
      if (Status status = add(directory, "..data"); !status) return status;
      if (!fs::is_symlink(path, error) || error) return {};
      const fs::path target = fs::read_symlink(path, error);
      if (error) return {};
      path = target.is_absolute() ? target : directory / target;
    }
    return {};
  }

  Status add_tree(const fs::path& directory) {
    if (Status status = add(directory, {}); !status) return status;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
      // What a link leads to is written elsewhere, or will be: `enabled/a.yaml` -> `../available/a.yaml`. A directory
      // that is reached through one is not part of the tree.
      const bool link = it->is_symlink(error);
      if (it->is_directory(error) == link) continue;
      const Status status = link ? add_file(it->path()) : add_tree(it->path());
      // Its own directory tells when it may be read.
      const bool passed_over = !status && (status.error().code == ErrorCode::kPermissionDenied ||
                                           status.error().code == ErrorCode::kNotFound);
      if (!status && !passed_over) return status;
    }
    return {};
  }

  Status add_path(const std::string& path) {
    std::error_code error;
    const bool directory = fs::is_directory(path, error);
    Status status = directory ? add_tree(path) : add_file(path);
    // A directory that is itself reached through a link: the link may be pointed elsewhere.
    if (status && directory && fs::is_symlink(path, error)) status = add_file(path);
    return status;
  }

  bool matters(const inotify_event& event) const {
    if ((event.mask & IN_Q_OVERFLOW) != 0) return true;
    const auto found = names.find(event.wd);
    if (found == names.end()) return false;
    if (found->second.empty() || event.len == 0) return true;
    return found->second.contains(event.name);
  }

  void rouse() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(wake, &one, sizeof(one));
  }

  /// Takes what is queued. \returns whether any of it matters.
  bool drain() {
    alignas(inotify_event) char buffer[16 * 1024];
    bool changed = false;
    for (;;) {
      const ssize_t got = ::read(inotify, buffer, sizeof(buffer));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return changed;
      for (ssize_t at = 0; at < got;) {
        const auto& event = *reinterpret_cast<const inotify_event*>(buffer + at);
        changed = matters(event) || changed;
        if ((event.mask & IN_IGNORED) != 0) names.erase(event.wd);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event.len);
      }
    }
  }
};

FileWatch::FileWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileWatch::~FileWatch() = default;

Result<std::unique_ptr<FileWatch>> FileWatch::create() {
  auto impl = std::make_unique<Impl>();
  impl->inotify = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  impl->wake = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (impl->inotify < 0 || impl->wake < 0) {
    return Error{ErrorCode::kResourceExhausted, std::string("cannot watch files: ") + std::strerror(errno)};
  }
  return std::unique_ptr<FileWatch>(new FileWatch(std::move(impl)));
}

Status FileWatch::watch(const std::vector<std::string>& paths) {
  impl_->directories.clear();
  Status first;
  for (const std::string& path : paths) {
    Status status = impl_->add_path(path);
    if (first && !status) first = std::move(status);
  }
  return first;
}

FileWatch::Event FileWatch::wait(std::chrono::milliseconds quiet) {
  std::optional<Clock::time_point> first;
  for (;;) {
    pollfd fds[2] = {{impl_->inotify, POLLIN, 0}, {impl_->wake, POLLIN, 0}};
    int timeout = -1;
    if (first) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*first + 10 * quiet - Clock::now());
      timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, quiet.count()));
    }
    const int ready = ::poll(fds, 2, timeout);
    if (ready < 0 && errno != EINTR) return Event::kStopped;
    if (ready == 0) return Event::kChanged;
    if (impl_->drain() && !first) first = Clock::now();
    if ((fds[1].revents & POLLIN) != 0) {
      if (impl_->stopped) return first ? Event::kChanged : Event::kStopped;
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = ::read(impl_->wake, &count, sizeof(count));
      if (!first) first = Clock::now();
    }
    if (first && Clock::now() - *first >= 10 * quiet) return Event::kChanged;
  }
}

void FileWatch::stop() {
  impl_->stopped = true;
  impl_->rouse();
}

void FileWatch::touch() { impl_->rouse(); }

}  // namespace edge
