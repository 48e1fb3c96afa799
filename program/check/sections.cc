#include "program/check/sections.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/os/background_work.h"
#include "program/check/checker.h"
#include "program/sha256.h"

namespace edge::program {
namespace {

/// \returns what is wrong, naming the field; empty when the section is sound. Linear in the section's size. References
/// to other sections are the caller's to check.
std::string check_section(const Section& section) {
  Checker check(section);
  switch (section.kind) {
    case SectionKind::kListeners:
      check_listeners(check);
      break;
    case SectionKind::kHost:
      check_host(check);
      break;
    case SectionKind::kBackends:
      check_backends(check);
      break;
    case SectionKind::kPolicies:
      check_policies(check);
      break;
    // Opaque here: machine code is trusted by its signature, databases by Hyperscan's own checks after it.
    case SectionKind::kNative:
    case SectionKind::kRegex:
      break;
    default:
      return "kind";
  }
  return std::move(check).fault();
}

/// Sections at a time: hashed, then checked while their bytes are in the cache.
constexpr std::size_t kWindow = 64;
/// Bytes to hash from which a second thread takes away more than it costs.
constexpr std::uint64_t kWorthAThread = std::uint64_t{4} << 20;

/// The sections of a program, which one or more threads check one after the other.
class SectionChecks {
 public:
  SectionChecks(std::span<const Section* const> sections, Databases databases)
      : sections_(sections), databases_(databases) {
    for (const Section* section : sections) bytes_ += is_hashed(*section) ? section->view.bytes().size() : 0;
  }

  std::uint64_t bytes() const { return bytes_; }

  /// Until none is left, or one is at fault. `share`: of the bytes, that this thread may expect.
  /// \returns the first fault among the windows that it took.
  std::optional<SectionFault> work(std::uint64_t share) {
    ManyHashes hashes(share);
    for (;;) {
      const std::size_t begin = next_.fetch_add(kWindow, std::memory_order_relaxed);
      if (begin >= sections_.size()) return std::nullopt;
      auto fault = check(sections_.subspan(begin, std::min(kWindow, sections_.size() - begin)), hashes);
      if (!fault) continue;
      // What was taken before is finished by who took it, so no earlier fault is missed.
      next_.store(sections_.size(), std::memory_order_relaxed);
      return fault;
    }
  }

 private:
  bool is_hashed(const Section& section) const {
    return section.kind != SectionKind::kRegex || databases_ == Databases::kHashNow;
  }

  std::optional<SectionFault> check(std::span<const Section* const> window, ManyHashes& hashes) const {
    std::vector<std::span<const std::byte>> pieces;
    pieces.reserve(window.size());
    for (const Section* section : window) {
      if (is_hashed(*section)) pieces.push_back(section->view.bytes());
    }
    std::vector<Hash> found(pieces.size());
    hashes.hash(pieces, found);
    auto hash = found.begin();
    for (const Section* section : window) {
      if (is_hashed(*section) && *hash++ != section->hash)
        return SectionFault{section, "its bytes do not have the hash it is listed with"};
      if (std::string fault = check_section(*section); !fault.empty()) return SectionFault{section, std::move(fault)};
    }
    return std::nullopt;
  }

  const std::span<const Section* const> sections_;
  const Databases databases_;
  std::uint64_t bytes_ = 0;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace

CheckedSections check_sections(std::span<const Section* const> sections, Databases databases,
                               std::span<const std::byte> manifest) {
  SectionChecks checks(sections, databases);
  if (checks.bytes() < kWorthAThread || std::thread::hardware_concurrency() < 2)
    return {checks.work(checks.bytes()), manifest_hash(manifest)};
  CheckedSections others;
  // The manifest is one long stream, so it comes first: windows are what is left to share at the end.
  BackgroundWork half([&] {
    others.program = manifest_hash(manifest);
    others.fault = checks.work(checks.bytes() / 2);
  });
  auto own = checks.work(checks.bytes() / 2);
  half.wait();
  const auto position = [&](const SectionFault& fault) { return std::ranges::find(sections, fault.section); };
  if (own && (!others.fault || position(*own) < position(*others.fault))) others.fault = std::move(own);
  return others;
}

}  // namespace edge::program
