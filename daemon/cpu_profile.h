// CPU profiles of a running daemon: stacks sampled by SIGPROF, in the format of pprof (from gperftools:
// https://gperftools.github.io/gperftools/cpuprofile-fileformat.html). No cost while none is taken.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/admin.h"

namespace edge::daemon {

struct ProfileSamples;

/// One profile; a process has one timer for them, and so only one at a time.
class CpuProfile {
 public:
  /// Null: another one is in progress.
  static std::unique_ptr<CpuProfile> begin();
  /// Ends it.
  ~CpuProfile();
  CpuProfile(const CpuProfile&) = delete;
  CpuProfile& operator=(const CpuProfile&) = delete;

  /// Ends the profile and returns it. Equal stacks are one record with their count; followed by the process's mappings,
  /// by which pprof finds names in the programs and libraries on disk.
  std::string finish();

 private:
  explicit CpuProfile(std::unique_ptr<ProfileSamples> samples);
  std::unique_ptr<ProfileSamples> samples_;
};

/// Serves /debug/pprof/profile?seconds=N. Waits on the admin thread's loop.
class ProfilePage {
 public:
  static constexpr std::string_view kPath = "/debug/pprof/profile";

  net::Task<AdminReply> answer(net::Loop& loop, std::string query);
  /// Ends the profile in progress now, and later ones at once. Any thread.
  void end() { ending_ = true; }

 private:
  std::atomic<bool> ending_ = false;
};

/// Serves /debug/heap: the allocator's statistics, one per line.
AdminReply heap_figures();

}  // namespace edge::daemon
