#include "program/read.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <tuple>

#include <fcntl.h>
#include <unistd.h>

#include "base/os/huge_pages.h"
#include "program/check/sections.h"
#include "program/format/records.h"
#include "program/sha256.h"

namespace edge::program {
namespace {

Error file_error(const std::string& path, int code) {
  const ErrorCode kind = code == ENOENT                    ? ErrorCode::kNotFound
                         : code == EACCES || code == EPERM ? ErrorCode::kPermissionDenied
                                                           : ErrorCode::kUnavailable;
  return {kind, path + ": " + std::strerror(code)};
}

Error malformed(const std::string& what) { return {ErrorCode::kDataLoss, "malformed program: " + what}; }

std::string section_name(SectionKind kind, std::uint64_t id) {
  static constexpr const char* kNames[] = {"", "listeners", "host", "native", "regex", "backends", "policies"};
  const auto index = static_cast<std::size_t>(kind);
  return (index > 0 && index < std::size(kNames) ? kNames[index] : "unknown") + (" section " + std::to_string(id));
}

bool known_target(Target target) {
  switch (target) {
    case Target::kTablesOnly:
    case Target::kX8664:
    case Target::kX8664V2:
    case Target::kX8664V3:
    case Target::kAarch64:
      return true;
  }
  return false;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}
bool all_zero(std::span<const std::uint8_t> bytes) { return all_zero(std::as_bytes(bytes)); }

Status check_header(std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxProgramBytes) return Error{ErrorCode::kResourceExhausted, "program larger than 1 GiB"};
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0)
    return Error{ErrorCode::kInvalidArgument, "program bytes are not aligned to 8"};
  if (bytes.size() < sizeof(FileHeader)) return malformed("shorter than its header");
  const auto& header = *reinterpret_cast<const FileHeader*>(bytes.data());
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return malformed("not a routing program (magic)");
  if (header.format_version != kFormatVersion) {
    return Error{ErrorCode::kUnimplemented, "program has format version " + std::to_string(header.format_version) +
                                                ", this build reads version " + std::to_string(kFormatVersion)};
  }
  if (header.file_size != bytes.size()) return malformed("file_size is not the size of the file");
  if (header.section_count > kMaxSections) return malformed("section_count");
  if (!known_target(header.target)) return malformed("target");
  if (!all_zero(header.reserved)) return malformed("reserved bytes of the header");
  const std::uint64_t manifest = sizeof(FileHeader) + std::uint64_t{header.section_count} * sizeof(SectionEntry);
  if (bytes.size() < manifest + sizeof(SignatureBlock)) return malformed("shorter than its section entries");
  const auto& signature = *reinterpret_cast<const SignatureBlock*>(bytes.data() + manifest);
  if (!all_zero(signature.reserved)) return malformed("reserved bytes of the signature");
  return {};
}

/// The zeros before a section that comes soon, see fetch_ahead. Its offset is not checked yet.
void fetch_gap_ahead(std::span<const std::byte> bytes, std::span<const SectionEntry> entries, std::size_t at) {
  constexpr std::size_t kAhead = 8;
  if (at + kAhead >= entries.size()) return;
  const std::uint64_t offset = entries[at + kAhead].offset;
  if (offset > 0 && offset <= bytes.size()) __builtin_prefetch(&bytes[offset - 1]);
}

/// Entries ascend and sections lie one behind the other with nothing but zero between them: one form for one content.
Status check_layout(std::span<const std::byte> bytes, std::span<const SectionEntry> entries) {
  std::uint64_t end = sizeof(FileHeader) + entries.size_bytes() + sizeof(SignatureBlock);
  const SectionEntry* previous = nullptr;
  for (const SectionEntry& entry : entries) {
    fetch_gap_ahead(bytes, entries, static_cast<std::size_t>(&entry - entries.data()));
    const auto fault = [&](const char* field) { return malformed(section_name(entry.kind, entry.id) + ": " + field); };
    if (previous != nullptr && std::tie(entry.kind, entry.id) <= std::tie(previous->kind, previous->id))
      return fault("out of order");
    if (entry.reserved != 0) return fault("reserved");
    const std::uint64_t start = (end + kSectionAlignment - 1) & ~(kSectionAlignment - 1);
    if (entry.offset != start || start > bytes.size()) return fault("offset");
    if (entry.size > bytes.size() - start) return fault("size");
    if (!all_zero(bytes.subspan(end, start - end))) return fault("bytes before it are not zero");
    end = start + entry.size;
    previous = &entry;
  }
  if (end != bytes.size()) return malformed("bytes after the last section");
  return {};
}

/// Finds the sections of a program that was read before; looked up in ascending order.
class KnownSections {
 public:
  explicit KnownSections(const ProgramView* program)
      : rest_(program == nullptr ? std::span<const Section>() : program->sections()) {}

  bool hold(const Section& section) {
    while (!rest_.empty() && std::tie(rest_[0].kind, rest_[0].id) < std::tie(section.kind, section.id))
      rest_ = rest_.subspan(1);
    if (rest_.empty() || rest_[0].kind != section.kind || rest_[0].id != section.id) return false;
    const auto old_bytes = rest_[0].view.bytes();
    const auto new_bytes = section.view.bytes();
    return rest_[0].hash == section.hash && old_bytes.size() == new_bytes.size() &&
           std::memcmp(old_bytes.data(), new_bytes.data(), new_bytes.size()) == 0;
  }

 private:
  std::span<const Section> rest_;
};

/// References from one section to another.
Status check_links(const ProgramView& program) {
  if (program.find(SectionKind::kListeners, 0) == nullptr) return malformed("no listeners section");
  if (program.find(SectionKind::kBackends, 0) == nullptr) return malformed("no backends section");
  if (program.find(SectionKind::kPolicies, 0) == nullptr) return malformed("no policies section");

  // Side by side: thousands of names in no order are looked up, and a section is longer than a line of the cache.
  std::vector<std::uint64_t> hosts;
  hosts.reserve(program.sections().size());
  for (const Section& section : program.sections()) {
    if (section.kind == SectionKind::kHost) hosts.push_back(section.id);
  }
  const SectionView& listeners = program.listeners().view;
  for (const ListenerRecord& listener : listeners.array(listeners.header<ListenersHeader>().listeners))
    for (const HostEntry& entry : listeners.array(listener.host_entries))
      if (!std::ranges::binary_search(hosts, entry.host_id))
        return malformed("a listener names " + section_name(SectionKind::kHost, entry.host_id) + ", which is missing");

  const std::uint32_t listener_count = listeners.header<ListenersHeader>().listeners.count;
  const SectionView& policies = program.policies().view;
  for (const NoRouteRecord& record : policies.array(policies.header<PoliciesHeader>().no_routes))
    if (record.listener >= listener_count) return malformed("no_routes names a listener that is missing");
  for (const ListenerClaimsRecord& record : policies.array(policies.header<PoliciesHeader>().listener_claims))
    if (record.listener >= listener_count) return malformed("listener_claims names a listener that is missing");

  for (std::size_t at = 0; at < program.sections().size(); ++at) {
    const Section& section = program.sections()[at];
    if (section.kind != SectionKind::kHost) continue;
    fetch_ahead(program.sections(), at);
    const auto& host = section.view.header<HostHeader>();
    if (host.native_shard != kNone && program.find(SectionKind::kNative, host.native_shard) == nullptr)
      return malformed(section_name(section.kind, section.id) + ": native_shard is missing");
    for (const RegexSetRecord& set : section.view.array(host.regex_sets))
      if (program.find(SectionKind::kRegex, set.section_id) == nullptr)
        return malformed(section_name(section.kind, section.id) + ": a regex set is missing");
    // What a request must pass cannot be left out: a policy that is named is there.
    for (const std::uint64_t policy : section.view.array(host.policy_refs))
      if (find_policy(policies, policy) == nullptr)
        return malformed(section_name(section.kind, section.id) + ": a policy is missing");
  }
  return {};
}

}  // namespace

std::string to_hex(const Hash& hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(hash.size() * 2);
  for (const std::uint8_t byte : hash) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

const Section* ProgramView::find(SectionKind kind, std::uint64_t id) const {
  const auto found = std::lower_bound(sections_.begin(), sections_.end(), std::tie(kind, id),
                                      [](const Section& section, const std::tuple<SectionKind&, std::uint64_t&>& key) {
                                        return std::tie(section.kind, section.id) < key;
                                      });
  return found != sections_.end() && found->kind == kind && found->id == id ? &*found : nullptr;
}

Result<ProgramView> read(std::shared_ptr<const void> owner, std::span<const std::byte> bytes, const ProgramView* known,
                         Databases databases) {
  if (Status status = check_header(bytes); !status) return status.error();
  ProgramView program;
  program.owner_ = std::move(owner);
  program.bytes_ = bytes;
  program.header_ = reinterpret_cast<const FileHeader*>(bytes.data());
  const std::span<const SectionEntry> entries(reinterpret_cast<const SectionEntry*>(program.header_ + 1),
                                              program.header_->section_count);
  program.manifest_ = bytes.first(sizeof(FileHeader) + entries.size_bytes());
  program.signature_ = reinterpret_cast<const SignatureBlock*>(bytes.data() + program.manifest_.size());
  if (Status status = check_layout(bytes, entries); !status) return status.error();

  KnownSections already(known);
  program.sections_.reserve(entries.size());
  std::vector<const Section*> fresh;
  for (const SectionEntry& entry : entries) {
    Section& section = program.sections_.emplace_back();
    section.kind = entry.kind;
    section.id = entry.id;
    std::copy(std::begin(entry.sha256), std::end(entry.sha256), section.hash.begin());
    section.view = SectionView(bytes.subspan(entry.offset, entry.size));
    if (!already.hold(section)) fresh.push_back(&section);
  }
  const auto [fault, hash] = check_sections(fresh, databases, program.manifest_);
  if (fault) return malformed(section_name(fault->section->kind, fault->section->id) + ": " + fault->what);
  if (Status status = check_links(program); !status) return status.error();
  program.hash_ = hash;
  return program;
}

Result<ProgramView> read(std::shared_ptr<const std::vector<std::byte>> bytes, const ProgramView* known,
                         Databases databases) {
  const std::span<const std::byte> all(*bytes);
  return read(std::shared_ptr<const void>(std::move(bytes)), all, known, databases);
}

Result<ProgramView> read_file(const std::string& path, const ProgramView* known, Databases databases) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file_error(path, errno);
  const std::unique_ptr<const int, void (*)(const int*)> closer(&file, [](const int* fd) { ::close(*fd); });
  struct stat info{};
  if (::fstat(file, &info) != 0) return file_error(path, errno);
  if (!S_ISREG(info.st_mode) || info.st_size <= 0 || static_cast<std::uint64_t>(info.st_size) > kMaxProgramBytes)
    return Error{ErrorCode::kDataLoss, path + ": not a routing program (not a file of 1 byte to 1 GiB)"};

  // A copy, not a mapping of the file: what was checked must not change afterwards under whoever uses it.
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return file_error(path, errno);
  prefer_huge_pages(data, size);
  std::shared_ptr<const void> owner(data, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::read(file, static_cast<std::byte*>(data) + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error(path, errno);
    if (count == 0) return Error{ErrorCode::kDataLoss, path + ": became shorter while it was read"};
    done += static_cast<std::size_t>(count);
  }
  auto program = read(std::move(owner), {static_cast<const std::byte*>(data), size}, known, databases);
  if (!program) return Error{program.error().code, path + ": " + program.error().text};
  return program;
}

}  // namespace edge::program
