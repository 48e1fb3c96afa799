#include "controller/relay/section_store.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "base/os/file.h"
#include "program/sha256.h"

namespace edge::controller::relay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHexDigits = 2 * sizeof(program::Hash);

std::optional<program::Hash> hash_of_name(std::string_view hex) {
  program::Hash hash{};
  if (hex.size() != kHexDigits) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* const at = hex.data() + 2 * i;
    if (std::from_chars(at, at + 2, hash[i], 16).ptr != at + 2) return std::nullopt;
  }
  return hash;
}

}  // namespace

Result<std::unique_ptr<SectionStore>> SectionStore::open(const std::string& directory, std::uint64_t most_bytes,
                                                         Logger log) {
  std::unique_ptr<SectionStore> store(new SectionStore(directory, most_bytes, std::move(log)));
  if (Status status = store->scan(); !status) return status.error();
  return store;
}

std::string SectionStore::path_of(const program::Hash& hash) const {
  const std::string hex = program::to_hex(hash);
  return directory_ + "/" + hex.substr(0, 2) + "/" + hex;
}

/// By the time they were written: uses are not on disk.
Status SectionStore::scan() {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (!error) fs::permissions(directory_, fs::perms::owner_all, error);
  if (error) return Error{ErrorCode::kUnavailable, directory_ + ": " + error.message()};
  std::vector<std::pair<fs::file_time_type, std::pair<program::Hash, std::uint64_t>>> found;
  for (auto it = fs::recursive_directory_iterator(directory_, error); !error && it != fs::end(it);
       it.increment(error)) {
    std::error_code of_file;
    if (!it->is_regular_file(of_file)) continue;
    const auto hash = hash_of_name(it->path().filename().string());
    const std::uint64_t size = it->file_size(of_file);
    if (!hash || of_file || it->path() != path_of(*hash)) {
      // Of a write that was broken off.
      fs::remove(it->path(), of_file);
      continue;
    }
    found.emplace_back(it->last_write_time(of_file), std::pair(*hash, size));
  }
  if (error) return Error{ErrorCode::kUnavailable, directory_ + ": " + error.message()};
  std::ranges::sort(found);
  const std::lock_guard lock(mutex_);
  for (const auto& [time, section] : found) {
    const auto entry =
        entries_.emplace(section.first, Entry{.size = section.second, .used = ++clock_, .pins = 0}).first;
    unused_.emplace(entry->second.used, section.first);
    bytes_ += section.second;
  }
  make_room();
  return {};
}

void SectionStore::touch(Entries::iterator entry) {
  if (entry->second.pins == 0) unused_.erase({entry->second.used, entry->first});
  entry->second.used = ++clock_;
  if (entry->second.pins == 0) unused_.emplace(entry->second.used, entry->first);
}

void SectionStore::remove(Entries::iterator entry) {
  std::error_code error;
  fs::remove(path_of(entry->first), error);
  unused_.erase({entry->second.used, entry->first});
  bytes_ -= entry->second.size;
  entries_.erase(entry);
}

void SectionStore::make_room() {
  while ((bytes_ > most_bytes_ || entries_.size() > kMostSections) && !unused_.empty()) {
    remove(entries_.find(unused_.begin()->second));
    ++counts_.evicted;
  }
}

bool SectionStore::find(const program::Hash& hash, std::span<std::byte> into) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(hash);
  if (entry == entries_.end()) return false;
  const auto bytes = read_file_bytes(path_of(hash), into.size());
  if (!bytes || bytes->size() != into.size() || program::sha256(std::span<const std::byte>(*bytes)) != hash) {
    log_.warn("a stored section is damaged: it is removed, and fetched again", {{"section", program::to_hex(hash)}});
    ++counts_.corrupt;
    remove(entry);
    return false;
  }
  std::ranges::copy(*bytes, into.begin());
  touch(entry);
  ++counts_.found;
  return true;
}

/// Without fsync: what a crash leaves half written has another hash.
void SectionStore::came(const program::Hash& hash, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (entries_.contains(hash)) return;
  const std::string path = path_of(hash);
  const std::string half = path + ".new";
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  bool written = false;
  if (!error) {
    std::ofstream file(half, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    written = file.good();
  }
  if (written) fs::rename(half, path, error);
  if (!written || error) {
    fs::remove(half, error);
    if (!std::exchange(told_, true)) log_.error("sections cannot be stored", {{"directory", directory_}});
    return;
  }
  told_ = false;
  const auto entry = entries_.emplace(hash, Entry{.size = bytes.size(), .used = ++clock_, .pins = 0}).first;
  unused_.emplace(entry->second.used, hash);
  bytes_ += bytes.size();
  make_room();
}

void SectionStore::pin(const std::string& user, std::vector<program::Hash> hashes) {
  const std::lock_guard lock(mutex_);
  for (const program::Hash& hash : hashes) {
    const auto entry = entries_.find(hash);
    if (entry != entries_.end() && entry->second.pins++ == 0) unused_.erase({entry->second.used, hash});
  }
  const std::vector<program::Hash> before = std::exchange(pins_[user], std::move(hashes));
  for (const program::Hash& hash : before) {
    const auto entry = entries_.find(hash);
    if (entry == entries_.end() || entry->second.pins == 0) continue;
    if (--entry->second.pins == 0) unused_.emplace(entry->second.used, hash);
  }
  make_room();
}

std::vector<program::Hash> SectionStore::held() const {
  const std::lock_guard lock(mutex_);
  std::vector<program::Hash> hashes;
  hashes.reserve(entries_.size());
  for (const auto& [hash, entry] : entries_) hashes.push_back(hash);
  return hashes;
}

SectionStore::Figures SectionStore::figures() const {
  const std::lock_guard lock(mutex_);
  Figures figures = counts_;
  figures.sections = entries_.size();
  figures.bytes = bytes_;
  return figures;
}

}  // namespace edge::controller::relay
