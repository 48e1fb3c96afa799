#include "controller/publish/history.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "base/text/json.h"
#include "program/format/format.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMaxIndexBytes = 16 << 20;
constexpr std::size_t kMaxEndpointBytes = 64 << 20;
constexpr std::size_t kFewestDigits = 8;
constexpr std::size_t kHashDigits = 64;
constexpr const char* kProgram = ".edgeprog";
constexpr const char* kEndpoints = ".endpoints.json";

/// Hashes name files.
bool is_hash(const std::string& text) {
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Json to_json(const HistoryEntry& entry) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(entry.at.time_since_epoch()).count();
  return {{"program", entry.program},
          {"at", seconds},
          {"cause", entry.cause},
          {"resources", entry.resources},
          {"user", entry.user}};
}

HistoryEntry from_json(const Json& json) {
  HistoryEntry entry;
  entry.program = text_in(json, "program");
  entry.at = WallTime(std::chrono::seconds(integer_in(json, "at")));
  entry.cause = text_in(json, "cause");
  entry.user = text_in(json, "user");
  for (const Json& name : list_in(json, "resources")) {
    if (name.is_string()) entry.resources.push_back(name.get<std::string>());
  }
  return entry;
}

}  // namespace

Result<std::unique_ptr<History>> History::open(std::string directory, std::size_t kept, const Logger& log) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Error{ErrorCode::kUnavailable, directory + ": " + error.message()};
  fs::permissions(directory, fs::perms::owner_all, error);
  std::unique_ptr<History> history(new History(std::move(directory), kept));
  if (Status status = history->read(log); !status) return status.error();
  history->sweep();
  return history;
}

Status History::read(const Logger& log) {
  const auto index = read_file(directory_ + "/index.json", kMaxIndexBytes);
  if (!index) return index.error().code == ErrorCode::kNotFound ? Status() : Status(index.error());
  const Json json = parse_json(*index);
  if (!json.is_object()) {
    const auto aside = set_aside(directory_ + "/index.json");
    if (!aside) return aside.error();
    recover();
    log.warn("the history's index cannot be read: it is renamed to " + *aside + " and rebuilt from the " +
             std::to_string(entries_.size()) +
             " programs next to it; what caused them, and whether a rollback was in force, is lost");
    if (Status kept = write_index(); !kept) log.warn(kept.error().text);
    return {};
  }
  for (const Json& each : list_in(json, "programs")) {
    HistoryEntry entry = from_json(each);
    std::error_code error;
    if (is_hash(entry.program) && fs::exists(path(entry.program, kProgram), error)) {
      entries_.push_back(std::move(entry));
    }
  }
  pinned_ = text_in(json, "pinned");
  const bool there = std::ranges::any_of(entries_, [&](const HistoryEntry& e) { return e.program == pinned_; });
  if (!there) pinned_.clear();
  return {};
}

void History::recover() {
  std::error_code error;
  for (fs::directory_iterator file(directory_, error), end; !error && file != end; file.increment(error)) {
    const std::string name = file->path().filename().string();
    const std::string hash = name.substr(0, kHashDigits);
    if (!is_hash(hash) || std::string_view(name).substr(hash.size()) != kProgram) continue;
    std::error_code unknown;
    const auto changed = fs::last_write_time(file->path(), unknown);
    HistoryEntry entry;
    entry.program = hash;
    if (!unknown) {
      entry.at = std::chrono::time_point_cast<WallTime::duration>(std::chrono::file_clock::to_sys(changed));
    }
    entry.cause = "not known any more";
    entries_.push_back(std::move(entry));
  }
  std::ranges::sort(entries_, [](const HistoryEntry& a, const HistoryEntry& b) {
    return std::tie(a.at, a.program) > std::tie(b.at, b.program);
  });
}

/// A crash leaves files that no entry names: of a program that was being added, or that was dropped, and halves of
/// files that were being written. What is not named as ours is left alone.
void History::sweep() const {
  std::error_code error;
  std::vector<fs::path> orphans;
  for (fs::directory_iterator file(directory_, error), end; !error && file != end; file.increment(error)) {
    const std::string name = file->path().filename().string();
    const std::string hash = name.substr(0, kHashDigits);
    const std::string_view kind = std::string_view(name).substr(hash.size());
    const bool half = (name.starts_with("index.json.") && !name.starts_with("index.json.broken")) ||
                      (is_hash(hash) && (kind.starts_with(std::string(kProgram) + ".") ||
                                         kind.starts_with(std::string(kEndpoints) + ".")));
    const bool whole = is_hash(hash) && (kind == kProgram || kind == kEndpoints);
    const bool named = std::ranges::find(entries_, hash, &HistoryEntry::program) != entries_.end();
    if (half || (whole && !named)) orphans.push_back(file->path());
  }
  for (const fs::path& orphan : orphans) fs::remove(orphan, error);
}

Status History::write_index() const {
  Json entries = Json::array();
  for (const HistoryEntry& entry : entries_) entries.push_back(to_json(entry));
  const Json index = {{"pinned", pinned_}, {"programs", std::move(entries)}};
  const std::string bytes = indented_json(index, 1);
  return write_file(directory_ + "/index.json", std::string_view(bytes), FileAccess::kOwnerOnly);
}

Status History::add(const std::string& hash, const PastProgram& program, const Cause& cause, WallTime at) {
  HistoryEntry entry;
  entry.program = hash;
  entry.at = at;
  entry.cause = cause.line();
  entry.resources = cause.resources;
  entry.user = cause.user;
  return add(std::move(entry), program);
}

Status History::add(HistoryEntry entry, const PastProgram& program) {
  const std::string hash = entry.program;
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(entries_, hash, &HistoryEntry::program);
  if (known == entries_.end()) {
    if (Status status = write_file(path(hash, kProgram), std::span(*program.program), FileAccess::kOwnerOnly);
        !status) {
      return status;
    }
  } else {
    entries_.erase(known);
  }
  const std::string endpoints = program::write_endpoints(program.endpoints);
  if (Status status = write_file(path(hash, kEndpoints), std::string_view(endpoints), FileAccess::kOwnerOnly);
      !status) {
    return status;
  }
  entries_.insert(entries_.begin(), std::move(entry));
  drop_old();
  return write_index();
}

void History::drop_old() {
  while (entries_.size() > kept_) {
    auto last = std::prev(entries_.end());
    if (last->program == pinned_ && last != entries_.begin()) --last;
    std::error_code error;
    fs::remove(path(last->program, kProgram), error);
    fs::remove(path(last->program, kEndpoints), error);
    entries_.erase(last);
  }
}

std::vector<HistoryEntry> History::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<HistoryEntry> entries = entries_;
  for (HistoryEntry& entry : entries) entry.pinned = entry.program == pinned_;
  return entries;
}

Result<std::string> History::whole(const std::string& hash) const {
  const HistoryEntry* found = nullptr;
  for (const HistoryEntry& entry : entries_) {
    if (entry.program == hash) return hash;
    if (hash.size() < kFewestDigits || !entry.program.starts_with(hash)) continue;
    if (found != nullptr) return Error{ErrorCode::kInvalidArgument, "several programs begin with " + hash};
    found = &entry;
  }
  if (found != nullptr) return found->program;
  return Error{ErrorCode::kNotFound, "the history has no program " + hash.substr(0, 64)};
}

Result<PastProgram> History::find(const std::string& hash) const {
  const std::lock_guard lock(mutex_);
  const auto name = whole(hash);
  if (!name) return name.error();
  auto bytes = read_file_bytes(path(*name, kProgram), program::kMaxProgramBytes);
  if (!bytes) return bytes.error();
  PastProgram past;
  past.program = std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
  if (const auto json = read_file(path(*name, kEndpoints), kMaxEndpointBytes)) {
    auto endpoints = program::read_endpoints(*json);
    if (!endpoints) return endpoints.error();
    past.endpoints = std::move(*endpoints);
  }
  return past;
}

Result<HistoryEntry> History::entry(const std::string& hash) const {
  const std::lock_guard lock(mutex_);
  const auto name = whole(hash);
  if (!name) return name.error();
  return *std::ranges::find(entries_, *name, &HistoryEntry::program);
}

std::string History::pinned() const {
  const std::lock_guard lock(mutex_);
  return pinned_;
}

Result<std::string> History::pin(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  auto name = whole(hash);
  if (!name) return name;
  if (Status status = write_pin(*name); !status) return status.error();
  return name;
}

Status History::release() {
  const std::lock_guard lock(mutex_);
  return write_pin({});
}

/// What is not on disk does not hold: the next entry would write it, and the next start find it.
Status History::write_pin(std::string pinned) {
  pinned.swap(pinned_);
  Status status = write_index();
  if (!status) pinned_ = std::move(pinned);
  return status;
}

}  // namespace edge::controller
