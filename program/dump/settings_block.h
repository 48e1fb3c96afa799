// Builds one block of a dump's settings.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "base/units.h"
#include "program/dump/settings_tree.h"
#include "program/format/records.h"

namespace edge::program {

/// `section` must outlive it.
class Block {
 public:
  Block(const SectionView& section, std::string name) : section_(section) { settings_.name = std::move(name); }

  Block& text(const std::string& name, StringRef ref) { return word(name, section_.string(ref)); }
  /// One that is long, or binary, by its size and hash.
  Block& body(StringRef ref) { return word("body", body_text(section_.string(ref))); }
  Block& word(const std::string& name, std::string_view value) {
    if (!value.empty()) settings_.fields.emplace_back(name, std::string(value));
    return *this;
  }
  Block& number(const std::string& name, std::uint64_t value) {
    settings_.fields.emplace_back(name, value);
    return *this;
  }
  Block& duration(const std::string& name, std::uint64_t nanoseconds) {
    return word(name, duration_text(std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds))));
  }
  Block& flag(const std::string& name, bool value) {
    if (value) settings_.fields.emplace_back(name, true);
    return *this;
  }
  Block& list(const std::string& name, std::vector<std::string> values) {
    if (!values.empty()) settings_.fields.emplace_back(name, std::move(values));
    return *this;
  }
  Block& texts(const std::string& name, ArrayRef<StringRef> refs) {
    std::vector<std::string> values;
    for (const StringRef& ref : section_.array(refs)) values.emplace_back(section_.string(ref));
    return list(name, std::move(values));
  }
  Block& cidrs(const std::string& name, ArrayRef<CidrRecord> records) {
    std::vector<std::string> values;
    for (const CidrRecord& record : section_.array(records)) values.push_back(to_string(cidr_of(record)));
    return list(name, std::move(values));
  }
  Block& secret(const std::string& name, const SecretRecord& record) {
    return word(name, secret_text(section_, record));
  }
  Block& secrets(const std::string& name, ArrayRef<SecretRecord> records) {
    std::vector<std::string> values;
    for (const SecretRecord& record : section_.array(records)) values.push_back(secret_text(section_, record));
    return list(name, std::move(values));
  }
  TreeSettings take() { return std::move(settings_); }

 private:
  const SectionView& section_;
  TreeSettings settings_;
};

}  // namespace edge::program
