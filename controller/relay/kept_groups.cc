#include "controller/relay/kept_groups.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/labels.h"
#include "base/os/file.h"
#include "controller/distribute/publication.h"
#include "program/format/file.h"

namespace edge::controller::relay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable = ".table";
constexpr const char* kEndpoints = ".endpoints.json";
constexpr std::size_t kMaxEndpointBytes = 64 << 20;
constexpr std::size_t kMaxTableBytes = sizeof(program::FileHeader) + sizeof(program::SignatureBlock) +
                                       std::size_t{program::kMaxSections} * sizeof(program::SectionEntry);

Error no_table(const std::string& path) { return {ErrorCode::kDataLoss, path + ": is no table of a program"}; }

}  // namespace

Result<KeptGroups> KeptGroups::open(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error) fs::permissions(directory, fs::perms::owner_all, error);
  if (error) return Error{ErrorCode::kUnavailable, directory + ": " + error.message()};
  return KeptGroups(directory);
}

std::vector<std::string> KeptGroups::groups() const {
  std::vector<std::string> groups;
  std::error_code error;
  for (auto it = fs::directory_iterator(directory_, error); !error && it != fs::end(it); it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.ends_with(kTable)) continue;
    name.resize(name.size() - std::strlen(kTable));
    if (!name.empty() && is_label_value(name)) groups.push_back(std::move(name));
  }
  std::ranges::sort(groups);
  return groups;
}

Status KeptGroups::keep_program(const std::string& group, const std::vector<std::byte>& program) const {
  const auto outline = outline_of(program);
  if (!outline) return outline.error();
  const std::size_t size = sizeof(program::FileHeader) + sizeof(program::SignatureBlock) +
                           (*outline)->entries.size() * sizeof(program::SectionEntry);
  return write_file(path(group, kTable), std::span(program).first(size), FileAccess::kOwnerOnly);
}

Status KeptGroups::keep_endpoints(const std::string& group, const program::EndpointSet& endpoints) const {
  const std::string text = program::write_endpoints(endpoints);
  return write_file(path(group, kEndpoints), std::string_view(text), FileAccess::kOwnerOnly);
}

Result<std::shared_ptr<const std::vector<std::byte>>> KeptGroups::program(const std::string& group,
                                                                          SectionStore& sections) const {
  const std::string from = path(group, kTable);
  const auto table = read_file_bytes(from, kMaxTableBytes);
  if (!table) return table.error();
  program::FileHeader header{};
  if (table->size() < sizeof header) return no_table(from);
  std::memcpy(&header, table->data(), sizeof header);
  const std::size_t size = sizeof header + sizeof(program::SignatureBlock) +
                           std::size_t{header.section_count} * sizeof(program::SectionEntry);
  if (table->size() != size || header.file_size < size || header.file_size > program::kMaxProgramBytes) {
    return no_table(from);
  }
  auto bytes = std::make_shared<std::vector<std::byte>>(*table);
  bytes->resize(header.file_size);
  const auto outline = outline_of(*bytes);
  if (!outline) return no_table(from);
  // All are looked at, so that none that is damaged counts as held.
  std::size_t missing = 0;
  for (const program::SectionEntry& entry : (*outline)->entries) {
    program::Hash hash;
    std::ranges::copy(entry.sha256, hash.begin());
    missing += sections.find(hash, std::span(*bytes).subspan(entry.offset, entry.size)) ? 0 : 1;
  }
  if (missing > 0) {
    return Error{ErrorCode::kDataLoss, std::to_string(missing) + " sections of the stored program are missing"};
  }
  return std::shared_ptr<const std::vector<std::byte>>(std::move(bytes));
}

Result<program::EndpointSet> KeptGroups::endpoints(const std::string& group) const {
  const auto text = read_file(path(group, kEndpoints), kMaxEndpointBytes);
  return text ? program::read_endpoints(*text) : Result<program::EndpointSet>(text.error());
}

}  // namespace edge::controller::relay
