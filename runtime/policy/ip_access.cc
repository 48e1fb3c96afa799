#include "runtime/policy/ip_access.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "program/format/records.h"
#include "program/sha256.h"
#include "program/values/address_list.h"

namespace edge::runtime {
namespace {

using program::AddressSourcesRecord;

PolicyAnswer refused() { return {403, "address-refused", "Clients of this address are not served.", {}}; }
PolicyAnswer unavailable() {
  return {503, "policy-unavailable", "A policy that protects this route cannot be enforced.", {}};
}

AddressSet set_of(std::span<const program::CidrRecord> records) {
  std::vector<Cidr> networks;
  networks.reserve(records.size());
  for (const program::CidrRecord& record : records) networks.push_back(program::cidr_of(record));
  return AddressSet(networks);
}

}  // namespace

/// Makes the policies one by one.
struct IpAccesses::Making {
  const program::SectionView& section;
  const program::SecretSet& secrets;
  const AccessFiles& files;
  const IpAccesses* previous;
  IpAccesses& made;
  /// Of the policy that is being made; empty: none.
  std::string fault;

  void fail(std::string what) {
    if (fault.empty()) fault = std::move(what);
  }

  const Listed& listed(const program::SecretRecord& record) {
    std::pair<std::string, std::string> name(section.string(record.name_space), section.string(record.name));
    const auto [entry, added] = made.lists_.try_emplace(std::move(name));
    Listed& list = entry->second;
    if (!added) return list;
    const std::string* const text = secrets.find(section, record);
    if (text == nullptr) {
      list.fault = "is missing";
      return list;
    }
    list.digest = program::sha256(std::as_bytes(std::span(*text)));
    if (previous != nullptr) {
      const auto before = previous->lists_.find(entry->first);
      if (before != previous->lists_.end() && before->second.digest == list.digest) return list = before->second;
    }
    const Result<std::vector<Cidr>> networks = program::read_address_list(*text);
    if (networks) {
      list.set = std::make_shared<const AddressSet>(*networks);
    } else {
      list.fault = networks.error().text;
    }
    return list;
  }

  Sources sources(const AddressSourcesRecord& from) {
    Sources to;
    if (from.networks.count != 0) {
      to.sets.push_back(std::make_shared<const AddressSet>(set_of(section.array(from.networks))));
    }
    for (const program::SecretRecord& record : section.array(from.lists)) {
      const Listed& list = listed(record);
      if (list.set == nullptr) {
        fail("the list " + std::string(section.string(record.name_space)) + "/" +
             std::string(section.string(record.name)) + ": " + list.fault);
      }
      to.sets.push_back(list.set);
    }
    for (const program::StringRef& ref : section.array(from.files)) {
      const auto file = files.lists.find(section.string(ref));
      const bool usable = file != files.lists.end() && file->second != nullptr;
      if (!usable) fail("the file `" + std::string(section.string(ref)) + "` of --address-lists cannot be used");
      to.sets.push_back(usable ? file->second : nullptr);
    }
    for (const program::StringRef& ref : section.array(from.countries)) {
      to.countries.push_back(country_number(section.string(ref)));
    }
    const auto systems = section.array(from.systems);
    to.systems.assign(systems.begin(), systems.end());
    std::ranges::sort(to.countries);
    std::ranges::sort(to.systems);
    if (!to.countries.empty() && files.countries == nullptr) fail("no database of --geoip-country can be used");
    if (!to.systems.empty() && files.systems == nullptr) fail("no database of --geoip-asn can be used");
    return to;
  }
};

std::shared_ptr<const IpAccesses> IpAccesses::make(const program::SectionView& policies,
                                                   const program::SecretSet& secrets, const AccessFiles& files,
                                                   const IpAccesses* previous) {
  const auto made = std::make_shared<IpAccesses>();
  made->countries_ = files.countries;
  made->systems_ = files.systems;
  Making making{policies, secrets, files, previous, *made, {}};
  const auto& header = policies.header<program::PoliciesHeader>();
  std::vector<std::string> faults(header.ip_accesses.count);
  for (const program::IpAccessRecord& record : policies.array(header.ip_accesses)) {
    Policy policy{.allow = making.sources(record.allow),
                  .deny = making.sources(record.deny),
                  .everybody = program::is_empty(record.allow)};
    policy.usable = making.fault.empty();
    faults[made->policies_.size()] = std::exchange(making.fault, {});
    made->policies_.push_back(std::move(policy));
  }
  for (const program::PolicyRecord& policy : policies.array(header.policies)) {
    if (policy.type != program::PolicyType::kIpAccess || policy.settings == program::kNone) continue;
    if (faults[policy.settings].empty()) continue;
    made->faults_.push_back("policy " + std::string(policies.string(policy.name_space)) + "/" +
                            std::string(policies.string(policy.name)) + ": " + faults[policy.settings] +
                            "; what it protects is answered 503");
  }
  return made;
}

IpAccesses::Among IpAccesses::among(const Sources& sources, const IpAddress& address) const {
  for (const auto& set : sources.sets) {
    if (set->contains(address)) return Among::kYes;
  }
  const auto found = [&](const GeoDatabase& database, const std::vector<std::uint32_t>& wanted) {
    const GeoDatabase::Found one = database.find(address);
    if (!one.sound) return Among::kUnknown;
    return one.value != 0 && std::ranges::binary_search(wanted, one.value) ? Among::kYes : Among::kNo;
  };
  if (!sources.countries.empty()) {
    if (const Among of = found(*countries_, sources.countries); of != Among::kNo) return of;
  }
  return sources.systems.empty() ? Among::kNo : found(*systems_, sources.systems);
}

std::optional<PolicyAnswer> IpAccesses::pass(std::uint32_t settings, const IpAddress& source) const {
  const Policy& policy = policies_[settings];
  if (!policy.usable) return unavailable();
  const Among denied = among(policy.deny, source);
  if (denied == Among::kUnknown) return unavailable();
  if (denied == Among::kYes) return refused();
  if (policy.everybody) return std::nullopt;
  switch (among(policy.allow, source)) {
    case Among::kYes:
      return std::nullopt;
    case Among::kNo:
      return refused();
    case Among::kUnknown:
      break;
  }
  return unavailable();
}

}  // namespace edge::runtime
