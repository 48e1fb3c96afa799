#include "daemon/cpu_profile.h"

#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <map>
#include <span>
#include <thread>
#include <vector>

#include <execinfo.h>
#include <malloc.h>
#include <ucontext.h>

#include "base/os/file.h"
#include "daemon/debug_pages.h"

namespace edge::daemon {
namespace {

constexpr int kSamplesASecond = 100;
constexpr int kMaxFrames = 64;
/// Of all threads together: a minute of three busy ones. What is more is left out.
constexpr std::size_t kMaxSamples = 20'000;
constexpr std::size_t kMaxMappings = std::size_t{4} << 20;
constexpr std::uint64_t kMaxSeconds = 60;
constexpr std::uint64_t kUsualSeconds = 10;
/// How soon one that is to end early does.
constexpr auto kStep = std::chrono::milliseconds(100);

struct Sample {
  int frames = 0;
  std::array<void*, kMaxFrames> addresses;
};

}  // namespace

struct ProfileSamples {
  std::vector<Sample> slots = std::vector<Sample>(kMaxSamples);
  std::atomic<std::size_t> used = 0;
};

namespace {

// A signal handler reaches nothing but what is static.
std::atomic<ProfileSamples*> profiled = nullptr;
/// Handlers that may have seen `profiled` as it was.
std::atomic<int> sampling = 0;

void* interrupted_at(const void* context) {
  const auto* const interrupted = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return reinterpret_cast<void*>(interrupted->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(interrupted->uc_mcontext.pc);
#else
#error "say where the program counter of an interrupted context is"
#endif
}

// backtrace() unwinds by .eh_frame: frame pointers are not needed. Once it has been called, it takes no lock and no
// memory (libgcc 12 finds the tables by glibc's _dl_find_object), which is what makes it fit for a handler.
void take(ProfileSamples& samples, void* interrupted) {
  const std::size_t slot = samples.used.fetch_add(1);
  if (slot >= kMaxSamples) return;
  Sample& sample = samples.slots[slot];
  void** const first = sample.addresses.data();
  void** const last = first + ::backtrace(first, kMaxFrames);
  // The frames before it are this handler's.
  void** const own = std::find(first, last, interrupted);
  sample.frames = own == last ? 0 : static_cast<int>(std::copy(own, last, first) - first);
}

// On the thread that is using the CPU.
void on_signal(int, siginfo_t*, void* context) {
  const int error = errno;
  sampling.fetch_add(1);
  if (ProfileSamples* const samples = profiled.load()) take(*samples, interrupted_at(context));
  sampling.fetch_sub(1);
  errno = error;
}

void set_timer(int samples_a_second) {
  itimerval timer{};
  if (samples_a_second > 0) timer.it_interval.tv_usec = 1'000'000 / samples_a_second;
  timer.it_value = timer.it_interval;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void end_sampling(const ProfileSamples& samples) {
  if (profiled.load() != &samples) return;
  set_timer(0);
  profiled = nullptr;
  while (sampling.load() != 0) std::this_thread::yield();
}

void append_words(std::string& out, std::initializer_list<std::uint64_t> words) {
  for (const std::uint64_t word : words) out.append(reinterpret_cast<const char*>(&word), sizeof word);
}

}  // namespace

CpuProfile::CpuProfile(std::unique_ptr<ProfileSamples> samples) : samples_(std::move(samples)) {}

CpuProfile::~CpuProfile() { end_sampling(*samples_); }

std::unique_ptr<CpuProfile> CpuProfile::begin() {
  std::array<void*, 2> frames{};
  ::backtrace(frames.data(), static_cast<int>(frames.size()));  // the first call loads what the handler needs
  struct sigaction action{};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  auto samples = std::make_unique<ProfileSamples>();
  ProfileSamples* nobody = nullptr;
  if (!profiled.compare_exchange_strong(nobody, samples.get())) return nullptr;
  // The handler stays: a signal that is still on its way would else end the process.
  ::sigaction(SIGPROF, &action, nullptr);
  set_timer(kSamplesASecond);
  return std::unique_ptr<CpuProfile>(new CpuProfile(std::move(samples)));
}

std::string CpuProfile::finish() {
  end_sampling(*samples_);
  std::map<std::vector<void*>, std::uint64_t> stacks;
  const std::size_t taken = std::min(samples_->used.load(), kMaxSamples);
  for (const Sample& sample : std::span(samples_->slots).first(taken)) {
    const auto* const first = sample.addresses.data();
    if (sample.frames > 0) ++stacks[std::vector<void*>(first, first + sample.frames)];
  }
  std::string out;
  append_words(out, {0, 3, 0, 1'000'000 / kSamplesASecond, 0});
  for (const auto& [stack, count] : stacks) {
    append_words(out, {count, stack.size()});
    for (void* const address : stack) append_words(out, {reinterpret_cast<std::uint64_t>(address)});
  }
  append_words(out, {0, 1, 0});
  if (const auto mappings = read_file("/proc/self/maps", kMaxMappings)) out += *mappings;
  return out;
}

net::Task<AdminReply> ProfilePage::answer(net::Loop& loop, std::string query) {
  const auto seconds = number_parameter(query, "seconds", kUsualSeconds, kMaxSeconds);
  if (!seconds || *seconds == 0) co_return text_reply(400, "seconds: from 1 to " + std::to_string(kMaxSeconds) + "\n");
  const auto profile = CpuProfile::begin();
  if (profile == nullptr) co_return text_reply(409, "another profile is under way\n");
  net::Waiter waiter(loop);
  const net::Time until = loop.now() + std::chrono::seconds(*seconds);
  while (loop.now() < until && !ending_) {
    co_await waiter.wait(std::min<net::Time>(until, loop.now() + kStep));
  }
  co_return AdminReply{
      .content_type = "application/octet-stream",
      .body = profile->finish(),
      .fields = {{"Cache-Control", "no-store"}, {"Content-Disposition", "attachment; filename=\"profile\""}}};
}

AdminReply heap_figures() {
  const struct mallinfo2 figures = ::mallinfo2();
  std::string text;
  const auto line = [&text](std::string_view name, std::size_t value) {
    text.append(name).append(" ").append(std::to_string(value)).append("\n");
  };
  line("in_use_bytes", figures.uordblks + figures.hblkhd);
  line("free_bytes", figures.fordblks);
  line("arena_bytes", figures.arena);
  line("mapped_bytes", figures.hblkhd);
  line("mapped_blocks", figures.hblks);
  line("returnable_bytes", figures.keepcost);
  return text_reply(200, std::move(text));
}

}  // namespace edge::daemon
