// Where a running daemon spends its CPU time: stacks sampled by SIGPROF, in the format that pprof reads (the one of
// gperftools: https://gperftools.github.io/gperftools/cpuprofile-fileformat.html). Costs nothing while none is taken.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/admin.h"

namespace edge::daemon {

struct ProfileSamples;

/// One profile; a process has one timer for them, and so at most one of these at a time.
class CpuProfile {
 public:
  /// Null: another one is under way.
  static std::unique_ptr<CpuProfile> begin();
  /// Ends it.
  ~CpuProfile();
  CpuProfile(const CpuProfile&) = delete;
  CpuProfile& operator=(const CpuProfile&) = delete;

  /// Ends it. Equal stacks are one record with their count; then come the mappings of the process, by which pprof finds
  /// the names in the programs and libraries on disk.
  std::string finish();

 private:
  explicit CpuProfile(std::unique_ptr<ProfileSamples> samples);
  std::unique_ptr<ProfileSamples> samples_;
};

/// /debug/pprof/profile?seconds=N. Waits on the admin thread's loop.
class ProfilePage {
 public:
  static constexpr std::string_view kPath = "/debug/pprof/profile";

  net::Task<AdminReply> answer(net::Loop& loop, std::string query);
  /// The profile that is under way ends now, and later ones at once. From any thread.
  void end() { ending_ = true; }

 private:
  std::atomic<bool> ending_ = false;
};

/// /debug/heap: what the allocator says, a figure a line.
AdminReply heap_figures();

}  // namespace edge::daemon
