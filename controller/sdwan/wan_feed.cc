#include "controller/sdwan/wan_feed.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/text/base64.h"
#include "compiler/model/decode.h"
#include "compiler/yaml/read.h"

namespace edge::controller::sdwan {
namespace {

constexpr std::string_view kPrivateKeyName = "private-key";
constexpr std::size_t kPrivateKeyBytes = 32;

/// As `wg genkey` writes it; empty: there is none.
std::string private_key_in(const std::string& document) {
  if (document.find(kPrivateKeyName) == std::string::npos) return {};
  SourceMap sources;
  sources.add("Secret", document);
  Diagnostics said;
  compiler::model::ResourceSet set;
  compiler::yaml::read_documents(sources, 0, said, {},
                                 [&](const compiler::yaml::Document& one) { compiler::model::decode(one, set, said); });
  if (set.secrets.size() != 1) return {};
  for (const auto& entry : set.secrets.front().entries) {
    if (entry.key != kPrivateKeyName || entry.value == nullptr) continue;
    const auto key = from_base64(*entry.value);
    if (key && key->size() == kPrivateKeyBytes) return *key;
  }
  return {};
}

}  // namespace

void WanFeed::put_secret(const std::string& name_space, const std::string& name, const std::string& document) {
  std::string key = private_key_in(document);
  const std::lock_guard lock(mutex_);
  const std::pair full(name_space, name);
  const auto known = facts_.given_keys.find(full);
  if (key.empty() ? known == facts_.given_keys.end() : known != facts_.given_keys.end() && known->second == key) return;
  if (key.empty()) {
    facts_.given_keys.erase(known);
  } else {
    facts_.given_keys.insert_or_assign(full, std::move(key));
  }
  plan();
}

void WanFeed::take(std::shared_ptr<const compiler::LinkedWan> wan) {
  const std::lock_guard lock(mutex_);
  if (wan == wan_) return;
  wan_ = std::move(wan);
  plan();
}

void WanFeed::look(std::map<std::string, std::vector<IpAddress>> found, std::chrono::system_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  facts_.now = now;
  if (found == facts_.found && now < due_) return;
  facts_.found = std::move(found);
  plan();
}

/// Under the lock. Without a time there are no keys yet.
void WanFeed::plan() {
  if (wan_ == nullptr || facts_.master.empty() || facts_.now == std::chrono::system_clock::time_point()) return;
  due_ = next_change(facts_.now);
  auto next = std::make_shared<const std::vector<SiteLinks>>(plan_wan(*wan_, facts_));
  // A cluster without an SD-WAN has nothing to say of it.
  if (sites_ == nullptr ? next->empty() : *sites_ == *next) return;
  sites_ = std::move(next);
  publish_(sites_);
}

std::shared_ptr<const compiler::LinkedWan> WanFeed::wan() const {
  const std::lock_guard lock(mutex_);
  return wan_;
}

std::shared_ptr<const std::vector<SiteLinks>> WanFeed::sites() const {
  const std::lock_guard lock(mutex_);
  return sites_;
}

}  // namespace edge::controller::sdwan
