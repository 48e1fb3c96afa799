#include "metrics/process.h"

#include <sys/resource.h>

#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>

#include <dirent.h>
#include <time.h>
#include <unistd.h>

namespace edge::metrics {
namespace {

std::string first_line(const char* path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

/// Fields of /proc/self/stat as numbered in proc(5), from 3 on: the field before them is a name that may contain
/// anything.
struct ProcessStat {
  std::uint64_t start_ticks = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};

std::optional<ProcessStat> read_stat() {
  const std::string line = first_line("/proc/self/stat");
  std::size_t at = line.rfind(')');
  if (at == std::string::npos) return std::nullopt;
  std::array<std::uint64_t, 25> fields{};
  for (std::size_t field = 3; field < fields.size(); ++field) {
    at = line.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
    std::from_chars(line.data() + at, line.data() + line.size(), fields[field]);
  }
  return ProcessStat{fields[22], fields[23], fields[24]};
}

std::optional<std::uint64_t> boot_time() {
  std::ifstream file("/proc/stat");
  std::string word;
  std::uint64_t seconds = 0;
  while (file >> word) {
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::uint64_t count_fds() {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  std::uint64_t count = 0;
  while (const dirent* item = ::readdir(directory)) count += item->d_name[0] != '.' ? 1 : 0;
  ::closedir(directory);
  return count == 0 ? 0 : count - 1;  // that of the directory
}

}  // namespace

double process_cpu_seconds() {
  timespec cpu{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) != 0) return 0;
  return static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) / 1e9;
}

std::uint64_t process_resident_bytes() {
  const auto stat = read_stat();
  return stat ? stat->resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

void write_process(Exposition& out) {
  out.begin(Family::kBuildInfo);
  out.sample(std::uint64_t{1}, labels({{"version", EDGE_VERSION}}));
  out.one(Family::kProcessCpu, process_cpu_seconds());
  if (const auto stat = read_stat()) {
    out.one(Family::kProcessResident, stat->resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    out.one(Family::kProcessVirtual, stat->virtual_bytes);
    if (const auto boot = boot_time()) {
      const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
      out.one(Family::kProcessStart, static_cast<double>(*boot) + static_cast<double>(stat->start_ticks) / ticks);
    }
  }
  out.one(Family::kProcessFds, count_fds());
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    out.one(Family::kProcessMaxFds, static_cast<std::uint64_t>(limit.rlim_cur));
  }
}

}  // namespace edge::metrics
