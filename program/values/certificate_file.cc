#include "program/values/certificate_file.h"

#include <algorithm>
#include <set>
#include <utility>

#include "program/format/records.h"
#include "program/values/ordered_certificates.h"

namespace edge::program {
namespace {

constexpr std::string_view kPrefix = "files:";
constexpr char kBetween = ':';

}  // namespace

std::string file_secret_name(std::string_view certificate, std::string_view key) {
  std::string name(kPrefix);
  name.append(certificate).push_back(kBetween);
  return name.append(key);
}

std::optional<CertificateFilePair> files_of_secret(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t between = name.find(kBetween);
  if (between == std::string_view::npos) return std::nullopt;
  return CertificateFilePair{std::string(name.substr(0, between)), std::string(name.substr(between + 1))};
}

std::vector<NamedSecret> file_secrets(const ProgramView& program) {
  const SectionView& section = program.listeners().view;
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const ListenerRecord& listener : section.array(section.header<ListenersHeader>().listeners)) {
    for (const ListenerTlsRecord& tls : section.array(listener.tls)) {
      for (const SecretRecord& record : section.array(tls.certificates)) {
        names.emplace(section.string(record.name_space), section.string(record.name));
      }
    }
  }
  std::vector<NamedSecret> secrets;
  for (const auto& [name_space, name] : names) {
    if (files_of_secret(name)) secrets.push_back({std::string(name_space), std::string(name), {}});
  }
  return secrets;
}

std::string certificate_text(std::string_view name_space, std::string_view name) {
  if (const auto files = files_of_secret(name)) return "file " + files->certificate;
  if (is_ordered_secret(name)) return "certificates that are ordered for its names";
  std::string text = "secret ";
  text.append(name_space).push_back('/');
  return text.append(name);
}

bool is_below_any(std::string_view path, const std::vector<std::string>& directories) {
  return std::ranges::any_of(directories, [&](std::string_view directory) {
    while (directory.ends_with('/')) directory.remove_suffix(1);
    return path.size() > directory.size() + 1 && path.starts_with(directory) && path[directory.size()] == '/';
  });
}

}  // namespace edge::program
