// What changes for IPAccess policies while a case runs: values of ConfigMaps, and files of the agent.
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "program/values/address_list.h"
#include "runtime/policy/test_mmdb.h"
#include "tests/runtime/case_run.h"

namespace edge::test {
namespace {

Error misuse(std::string text) { return {ErrorCode::kInvalidArgument, std::move(text)}; }

using runtime::GeoDatabase;

/// `NETWORK=VALUE ...`, wider networks first.
Result<std::shared_ptr<const GeoDatabase>> database_of(const std::string& argument, GeoDatabase::Kind kind) {
  if (argument.empty()) return std::shared_ptr<const GeoDatabase>();
  const bool countries = kind == GeoDatabase::Kind::kCountry;
  runtime::testing::TestMmdb writer(countries ? "Test-Country" : "Test-ASN");
  std::istringstream words(argument);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || !parse_cidr(word.substr(0, equals))) return misuse("no NETWORK=VALUE: " + word);
    const std::string value = word.substr(equals + 1);
    if (countries) {
      writer.country(word.substr(0, equals), value);
      continue;
    }
    std::uint32_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    writer.system(word.substr(0, equals), number);
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / ("case-" + std::to_string(::getpid()) + ".mmdb")).string();
  std::ofstream(path, std::ios::binary) << writer.bytes();
  auto opened = GeoDatabase::open(path, kind);
  std::filesystem::remove(path);
  return opened;
}

}  // namespace

Status CaseRun::set_access(const Command& command) {
  const auto [name, rest] = split_word(command.argument);
  if (command.name == "networks") {
    for (program::NamedSecret& secret : secrets_.secrets) {
      if (secret.name != "configmap/" + name) continue;
      secret.values = {{std::string(program::kNetworksKey), std::make_shared<const std::string>(unescape(rest))}};
      server_->set_secrets(secrets_);
      return {};
    }
    return misuse("no such list: " + name);
  }
  if (command.name == "list") {
    access_files_.lists[name] = nullptr;
    if (!rest.empty()) {
      const auto networks = program::read_address_list(unescape(rest));
      if (!networks) return networks.error();
      access_files_.lists[name] = std::make_shared<const runtime::AddressSet>(*networks);
    }
  } else {
    const bool countries = command.name == "countries";
    auto database = database_of(command.argument, countries ? GeoDatabase::Kind::kCountry : GeoDatabase::Kind::kAsn);
    if (!database) return database.error();
    (countries ? access_files_.countries : access_files_.systems) = *std::move(database);
  }
  server_->set_access_files(std::make_shared<const runtime::AccessFiles>(access_files_));
  return {};
}

}  // namespace edge::test
