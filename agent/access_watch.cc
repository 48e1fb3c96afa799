#include "agent/access_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/os/file.h"
#include "program/values/address_list.h"

namespace edge::agent {
namespace {

/// A database is some ten megabytes: whoever writes it in place takes a while.
constexpr auto kQuiet = std::chrono::milliseconds(250);
constexpr std::size_t kMaxLists = 1000;

using Kind = runtime::GeoDatabase::Kind;

}  // namespace

std::vector<cli::Flag> access_file_flags() {
  return {{.name = "address-lists",
           .value = "DIR",
           .help = "Directory of lists that IPAccess policies name by `file`: an address or network a line. Followed"},
          {.name = "geoip-country",
           .value = "MMDB",
           .help = "Database in MaxMind's format that tells countries, for IPAccess policies. Followed"},
          {.name = "geoip-asn",
           .value = "MMDB",
           .help = "Database in MaxMind's format that tells autonomous systems, for IPAccess policies. Followed"}};
}

AccessFileOptions access_file_options(const cli::Arguments& arguments) {
  const auto value = [&arguments](const char* flag) {
    return arguments.has(flag) ? arguments.one(flag) : std::string();
  };
  return {.lists = value("address-lists"), .countries = value("geoip-country"), .systems = value("geoip-asn")};
}

AccessWatch::AccessWatch(AccessFileOptions options, Logger log, Give give)
    : options_(std::move(options)), log_(std::move(log)), give_(std::move(give)) {}

Result<std::unique_ptr<AccessWatch>> AccessWatch::start(AccessFileOptions options, Logger log, Give give) {
  std::unique_ptr<AccessWatch> made(new AccessWatch(std::move(options), std::move(log), std::move(give)));
  auto watch = FileWatch::create();
  if (!watch) return watch.error();
  made->watch_ = std::move(*watch);
  if (Status status = made->watch_->watch(made->paths()); !status) return status.error();
  made->read();
  made->thread_ = std::thread([raw = made.get()] { raw->follow(); });
  return made;
}

AccessWatch::~AccessWatch() {
  if (!thread_.joinable()) return;
  watch_->stop();
  thread_.join();
}

std::vector<std::string> AccessWatch::paths() const {
  std::vector<std::string> all;
  for (const std::string* path : {&options_.lists, &options_.countries, &options_.systems}) {
    if (!path->empty()) all.push_back(*path);
  }
  return all;
}

void AccessWatch::follow() {
  while (watch_->wait(kQuiet) == FileWatch::Event::kChanged) {
    // Watched anew before they are read: the directories may be others now.
    if (Status status = watch_->watch(paths()); !status) log_.error("files of IPAccess: " + status.error().text);
    read();
  }
}

AccessWatch::Stamp AccessWatch::stamp_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {static_cast<std::uint64_t>(status.st_ino), static_cast<std::int64_t>(status.st_size),
          std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

void AccessWatch::read() {
  std::map<std::string, List> lists = lists_;
  Database countries = countries_;
  Database systems = systems_;
  if (!options_.lists.empty()) read_lists(lists);
  if (!options_.countries.empty()) read_database(options_.countries, Kind::kCountry, countries);
  if (!options_.systems.empty()) read_database(options_.systems, Kind::kAsn, systems);
  auto files = std::make_shared<runtime::AccessFiles>();
  for (const auto& [name, list] : lists) files->lists.emplace(name, list.set);
  files->countries = countries.read;
  files->systems = systems.read;
  {
    const std::lock_guard lock(mutex_);
    lists_ = std::move(lists);
    countries_ = std::move(countries);
    systems_ = std::move(systems);
  }
  give_(std::move(files));
}

void AccessWatch::read_lists(std::map<std::string, List>& lists) const {
  std::map<std::string, List> next;
  std::error_code fault;
  std::filesystem::directory_iterator entry(options_.lists, fault);
  for (; !fault && entry != std::filesystem::directory_iterator(); entry.increment(fault)) {
    const std::string name = entry->path().filename().string();
    // Hidden entries are editors' and, in a mounted ConfigMap, the second name of every file.
    if (name.starts_with('.') || !entry->is_regular_file(fault)) continue;
    if (next.size() == kMaxLists) {
      log_.error("more than 1000 lists in " + options_.lists + ": the others cannot be used");
      break;
    }
    List& list = next[name];
    if (const auto before = lists.find(name); before != lists.end()) list = before->second;
    read_list(entry->path().string(), name, list);
  }
  if (fault) log_.error("lists of addresses in " + options_.lists + ": " + fault.message());
  lists = std::move(next);
}

void AccessWatch::read_list(const std::string& path, const std::string& name, List& list) const {
  const Stamp stamp = stamp_of(path);
  if (stamp == list.stamp) return;
  list = {.stamp = stamp, .set = nullptr};
  const auto text = read_file(path, program::kMaxAddressListBytes);
  const auto networks = text ? program::read_address_list(*text) : Result<std::vector<Cidr>>(text.error());
  if (!networks) return log_.error("the list of addresses " + name + " cannot be used: " + networks.error().text);
  list.set = std::make_shared<const runtime::AddressSet>(*networks);
  log_.info("list of addresses " + name + ": " + std::to_string(list.set->size()) + " networks");
}

void AccessWatch::read_database(const std::string& path, Kind kind, Database& database) const {
  const Stamp stamp = stamp_of(path);
  if (stamp == database.stamp && (database.read != nullptr || !database.fault.empty())) return;
  database = {.stamp = stamp, .read = nullptr, .fault = {}};
  auto opened = runtime::GeoDatabase::open(path, kind);
  if (!opened) {
    database.fault = opened.error().text;
    return log_.error("the database " + path + " cannot be used: " + database.fault);
  }
  database.read = *std::move(opened);
  log_.info("database " + path + ": " + std::string(database.read->type()) + ", built " +
            std::to_string(database.read->built()));
}

void AccessWatch::write_metrics(metrics::Exposition& out) const {
  using metrics::Family;
  using metrics::labels;
  const std::lock_guard lock(mutex_);
  if (!options_.lists.empty()) {
    out.begin(Family::kAddressListNetworks);
    for (const auto& [name, list] : lists_) {
      if (list.set != nullptr) out.sample(std::uint64_t{list.set->size()}, labels({{"file", name}}));
    }
    out.begin(Family::kAddressListUsable);
    for (const auto& [name, list] : lists_) {
      out.sample(std::uint64_t{list.set != nullptr ? 1U : 0U}, labels({{"file", name}}));
    }
  }
  if (options_.countries.empty() && options_.systems.empty()) return;
  const auto each = [&](auto value) {
    if (!options_.countries.empty()) out.sample(value(countries_), labels({{"database", "country"}}));
    if (!options_.systems.empty()) out.sample(value(systems_), labels({{"database", "asn"}}));
  };
  out.begin(Family::kGeoDatabaseUsable);
  each([](const Database& database) { return std::uint64_t{database.read != nullptr ? 1U : 0U}; });
  out.begin(Family::kGeoDatabaseBuilt);
  each([](const Database& database) { return database.read != nullptr ? database.read->built() : 0; });
}

}  // namespace edge::agent
