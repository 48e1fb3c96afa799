#include "runtime/tls/store.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "program/cluster_traffic.h"
#include "program/format/records.h"
#include "program/sha256.h"
#include "program/values/certificate_file.h"
#include "program/values/ordered_certificates.h"

namespace edge::runtime {

using net::tls::Authorities;
using net::tls::Certificate;
using net::tls::CertificateSet;
using net::tls::ClientCertificate;
using net::tls::ClientContext;
using net::tls::ClientSettings;
using net::tls::PeerName;
using net::tls::ServerCertificate;
using net::tls::ServerContext;
using net::tls::ServerSettings;
using net::tls::Site;
using net::tls::Sites;
using net::tls::Staple;
using program::SecretRecord;
using program::SectionView;

namespace {

ClientCertificate setting_of(program::ClientCertificateNeed need) {
  switch (need) {
    case program::kNoClientCertificate:
      return ClientCertificate::kNone;
    case program::kOptionalClientCertificate:
      return ClientCertificate::kOptional;
    case program::kUnverifiedClientCertificate:
      return ClientCertificate::kUnverified;
    case program::kNeedsClientCertificate:
      break;
  }
  return ClientCertificate::kRequired;
}

}  // namespace

/// Builds one store. Unchanged entries are taken from the maps of the previous store.
class TlsStoreBuilder {
 public:
  TlsStoreBuilder(const LoadedProgram& program, const program::SecretSet& secrets, const TlsStore* previous)
      : program_(program), secrets_(secrets), previous_(previous), store_(new TlsStore) {}

  std::shared_ptr<const TlsStore> build(const std::shared_ptr<net::tls::TicketKeys>& tickets) {
    store_->shows_nothing_.resize(program_.listener_count());
    store_->challenges_ = Challenges::make(secrets_, store_->faults_);
    for (std::uint32_t i = 0; i < program_.listener_count(); ++i) sites_.push_back(site(i));
    for (const program::BindRecord& bind : program_.binds()) store_->sites_.push_back(sites_of(bind, tickets));
    for (const program::BackendRecord& record : program_.backends()) store_->backends_.push_back(backend(record));
    const SectionView& section = program_.backends_section();
    for (const program::ClusterRefRecord& record : section.array(section.header<program::BackendsHeader>().clusters)) {
      store_->clusters_.push_back(contexts(section, record));
    }
    if (!store_->clusters_.empty()) use_peers();
    return store_;
  }

 private:
  template <typename Made>
  using Known = std::map<std::string, std::shared_ptr<const Made>>;

  /// What was made of the same before, in this store or the last one; null: nothing.
  template <typename Made>
  std::shared_ptr<const Made> known(Known<Made> TlsStore::* map, const std::string& key) {
    Known<Made>& here = (*store_).*map;
    if (const auto found = here.find(key); found != here.end()) return found->second;
    if (previous_ == nullptr) return nullptr;
    const auto before = (previous_->*map).find(key);
    return before == (previous_->*map).end() ? nullptr : here.emplace(key, before->second).first->second;
  }

  std::string text(const SectionView& section, const SecretRecord& record) const {
    return std::string(section.string(record.name_space)) + "/" + std::string(section.string(record.name));
  }
  void fault(const std::string& user, const std::string& what) { store_->faults_.push_back(user + ": " + what); }

  // ---- Secrets ----

  /// Null, and told of, when the secret is missing or at fault.
  const ServerCertificate* certificate(const SectionView& section, const SecretRecord& record,
                                       const std::string& user) {
    const std::string* chain = secrets_.find(section, record, program::kCertificateKey);
    const std::string* key = secrets_.find(section, record, program::kPrivateKeyKey);
    const std::string* staple = secrets_.find(section, record, program::kStapleKey);
    return certificate({section.string(record.name_space), section.string(record.name)}, chain, key, staple, user);
  }

  const ServerCertificate* certificate(std::pair<std::string_view, std::string_view> of, const std::string* chain,
                                       const std::string* key, const std::string* staple, const std::string& user) {
    const std::string name = program::certificate_text(of.first, of.second);
    if (chain == nullptr || key == nullptr) {
      fault(user, "the " + name + " with its certificate is not there");
      return nullptr;
    }
    const TlsStore::Name full_name(of.first, of.second);
    const auto same = [&](const TlsStore::KnownCertificate& one) {
      return one.chain == *chain && one.key == *key && one.staple == (staple != nullptr ? *staple : std::string());
    };
    if (const auto here = store_->certificates_.find(full_name); here != store_->certificates_.end()) {
      return &here->second.made;
    }
    if (previous_ != nullptr) {
      const auto before = previous_->certificates_.find(full_name);
      if (before != previous_->certificates_.end() && same(before->second)) {
        return &store_->certificates_.emplace(full_name, before->second).first->second.made;
      }
    }
    auto read = Certificate::read(*chain, *key);
    if (!read) {
      fault(user, "the certificate of the " + name + " cannot be used: " + read.error().text);
      return nullptr;
    }
    if ((*read)->not_after() < std::time(nullptr)) fault(user, "the certificate of the " + name + " is over");
    TlsStore::KnownCertificate made{*chain, *key, staple != nullptr ? *staple : std::string(), {*read, nullptr}};
    if (staple != nullptr) {
      auto answer = Staple::read(*staple, **read);
      if (answer) {
        made.made.staple = *answer;
      } else {
        fault(user, "the OCSP response of the " + name + " is not sent: " + answer.error().text);
      }
    }
    return &store_->certificates_.emplace(full_name, std::move(made)).first->second.made;
  }

  /// Whom a certificate of a client must be of. Null, so that nobody is believed, when a list of revoked certificates
  /// cannot be read: whom it names is not known. `key` as below.
  std::shared_ptr<const Authorities> client_authorities(const SectionView& section,
                                                        const program::ListenerTlsRecord& tls, const std::string& user,
                                                        std::string& key) {
    const auto records = section.array(tls.client_authorities);
    if (!records.empty() && section.string(records.front().name) == program::kClusterSecretName) {
      return other_clusters(section, records.front(), user, key);
    }
    std::vector<const std::string*> lists;
    std::string listed;
    for (const SecretRecord& record : records) {
      const std::string* const list =
          secrets_.find(section.string(record.name_space), section.string(record.name), program::kRevokedKey);
      if (list == nullptr) continue;
      lists.push_back(list);
      listed += *list + "\n";
    }
    if (lists.empty() && tls.needs_crl == 0) return authorities(section, records, false, user, key);
    key = "revoked " + std::to_string(tls.needs_crl) + "\n" + listed;
    for (const SecretRecord& record : records) {
      const std::string* const pem = secrets_.find(section, record);
      key += (pem != nullptr ? *pem : text(section, record)) + "\n";
    }
    if (auto made = known(&TlsStore::authorities_, key)) return made;
    auto all = std::make_shared<Authorities>();
    for (const SecretRecord& record : records) {
      const std::string* const pem = secrets_.find(section, record);
      const Status added = pem != nullptr ? all->add(*pem) : Error{ErrorCode::kNotFound, "it is not there"};
      if (!added) fault(user, "the authority " + text(section, record) + " cannot be used: " + added.error().text);
    }
    for (const std::string* list : lists) {
      if (const Status added = all->add_revoked(*list); !added) {
        fault(user, "no client's certificate is believed: " + added.error().text);
        return nullptr;
      }
    }
    all->check_revoked(tls.needs_crl != 0 ? net::tls::RevocationLists::kNeeded
                                          : net::tls::RevocationLists::kWhereThere);
    return store_->authorities_.emplace(key, std::move(all)).first->second;
  }

  /// Other clusters, by the list of those that may call. Null without the list, so that nobody is believed.
  std::shared_ptr<const Authorities> other_clusters(const SectionView& section, const SecretRecord& record,
                                                    const std::string& user, std::string& key) {
    use_peers();
    const std::string* const pem = secrets_.find(section, record);
    const std::string* const peers =
        secrets_.find(section.string(record.name_space), section.string(record.name), program::kClusterPeersKey);
    if (pem == nullptr || peers == nullptr) {
      fault(user, "no other cluster is known; every handshake is refused");
      return nullptr;
    }
    key = "clusters\n" + *pem + "\n" + *peers;
    if (auto made = known(&TlsStore::authorities_, key)) return made;
    auto all = std::make_shared<Authorities>();
    Status added = all->add(*pem);
    if (added) added = all->allow_only(*peers);
    if (!added) {
      fault(user, "who may call cannot be told: " + added.error().text);
      return nullptr;
    }
    return store_->authorities_.emplace(key, std::move(all)).first->second;
  }

  /// Whose connections go on: nobody's where the list is missing, or cannot be read.
  void use_peers() {
    if (store_->cluster_peers_ != nullptr) return;
    const std::string* const peers =
        secrets_.find(program::kClusterSecretSpace, program::kClusterSecretName, program::kClusterPeersKey);
    const std::string key = "peers\n" + (peers != nullptr ? *peers : std::string());
    store_->cluster_peers_ = known(&TlsStore::authorities_, key);
    if (store_->cluster_peers_ != nullptr) return;
    auto listed = std::make_shared<Authorities>();
    if (peers == nullptr || !listed->allow_only(*peers)) {
      listed = std::make_shared<Authorities>();
      static_cast<void>(listed->allow_only({}));
    }
    store_->cluster_peers_ = store_->authorities_.emplace(key, std::move(listed)).first->second;
  }

  /// Those of all the secrets that can be used. `key` becomes what they were read from; empty: none can.
  std::shared_ptr<const Authorities> authorities(const SectionView& section, std::span<const SecretRecord> records,
                                                 bool system, const std::string& user, std::string& key) {
    key = system ? "system\n" : "";
    std::vector<const std::string*> texts;
    for (const SecretRecord& record : records) {
      const std::string* pem = secrets_.find(section, record);
      if (pem == nullptr) {
        fault(user, "the authority " + text(section, record) + " is not there");
        continue;
      }
      texts.push_back(pem);
      key += *pem + "\n";
    }
    if (key.empty()) return nullptr;
    if (auto made = known(&TlsStore::authorities_, key)) return made;
    auto all = std::make_shared<Authorities>();
    bool any = false;
    if (system) {
      const Status added = all->add_system();
      any |= added.ok();
      if (!added) fault(user, added.error().text);
    }
    for (const std::string* pem : texts) {
      const Status added = all->add(*pem);
      any |= added.ok();
      if (!added) fault(user, "an authority cannot be used: " + added.error().text);
    }
    if (!any) return nullptr;
    return store_->authorities_.emplace(key, std::move(all)).first->second;
  }

  // ---- Listeners ----

  /// Null where TLS is not decrypted.
  std::shared_ptr<const Site> site(std::uint32_t index) {
    const LoadedListener& listener = program_.listener(index);
    const SectionView& section = program_.listeners_section();
    const program::ListenerTlsRecord* tls = program::optional_of(section, listener.record->tls);
    if (tls == nullptr || tls->mode != program::TlsMode::kTerminate) return nullptr;
    const std::string user = "listener " + std::string(section.string(listener.gateway->name_space)) + "/" +
                             std::string(section.string(listener.gateway->name)) + " " +
                             std::string(section.string(listener.record->name));
    ServerSettings settings;
    settings.min_version =
        tls->min_version == program::TlsVersion::k13 ? net::tls::Version::k13 : net::tls::Version::k12;
    // Raw bytes have no protocol to agree on.
    settings.offers_http1 = settings.offers_http2 = listener.record->protocol == program::Protocol::kHttps;
    std::string authority;
    if (tls->client_certificate != program::kNoClientCertificate) {
      settings.client_certificate = setting_of(tls->client_certificate);
      settings.client_authorities = client_authorities(section, *tls, user, authority);
    }
    const std::string key = std::to_string(static_cast<int>(settings.min_version)) + " " +
                            std::to_string(static_cast<int>(settings.client_certificate)) + " " +
                            std::to_string(settings.offers_http1) + "\n" + authority;
    std::shared_ptr<const ServerContext> context = known(&TlsStore::server_contexts_, key);
    if (context == nullptr) {
      auto made = ServerContext::make(std::move(settings));
      if (!made) {
        fault(user, made.error().text);
        return nullptr;
      }
      context = store_->server_contexts_.emplace(key, *made).first->second;
    }
    std::vector<ServerCertificate> certificates;
    std::shared_ptr<const net::tls::OnDemand> on_demand;
    bool whole = true;
    for (const SecretRecord& record : section.array(tls->certificates)) {
      if (program::is_ordered_secret(section.string(record.name))) {
        add_ordered(section, record, user, certificates);
        on_demand = on_demand_of(section, record);
        // The names of others may be ordered still: they are not shown a certificate of these.
        whole = false;
        continue;
      }
      const ServerCertificate* const one = certificate(section, record, user);
      if (one != nullptr) certificates.push_back(*one);
      whole = whole && one != nullptr;
    }
    // Until the first client asks, a listener on demand has none, and nothing is amiss.
    const bool nothing = certificates.empty() && on_demand == nullptr;
    store_->shows_nothing_[index] = nothing;
    if (nothing) fault(user, "no certificate can be shown; every handshake is refused");
    return std::make_shared<const Site>(std::move(context), std::move(certificates), identity(user + "\n" + key),
                                        whole ? CertificateSet::kWhole : CertificateSet::kIncomplete,
                                        std::move(on_demand));
  }

  /// Null: the listener gets no certificates on demand.
  std::shared_ptr<const net::tls::OnDemand> on_demand_of(const SectionView& section, const SecretRecord& record) const {
    const std::string_view space = section.string(record.name_space);
    const std::string_view name = section.string(record.name);
    const std::string* const patterns = secrets_.find(space, name, program::kOnDemandKey);
    if (patterns == nullptr) return nullptr;
    auto made = std::make_shared<net::tls::OnDemand>(std::string(space), std::string(name), std::vector<std::string>());
    std::string_view rest = *patterns;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      if (!line.empty()) made->patterns.emplace_back(line);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return made;
  }

  /// Those of one listener that are there.
  void add_ordered(const SectionView& section, const SecretRecord& record, const std::string& user,
                   std::vector<ServerCertificate>& certificates) {
    const std::string_view space = section.string(record.name_space);
    const auto found = std::ranges::find_if(secrets_.secrets, [&](const program::NamedSecret& secret) {
      return secret.name_space == space && secret.name == section.string(record.name);
    });
    if (found == secrets_.secrets.end()) return;
    const auto value = [&](std::string_view host, std::string_view key) {
      return secrets_.find(found->name_space, found->name, program::ordered_value_key(host, key));
    };
    for (const program::SecretValue& one : found->values) {
      const std::string_view host = program::host_of_ordered_value(one.key, program::kCertificateKey);
      if (host.empty()) continue;
      const std::string secret = program::certificate_secret_of(host);
      const ServerCertificate* const made =
          certificate({space, secret}, one.value.get(), value(host, program::kPrivateKeyKey),
                      value(host, program::kStapleKey), user);
      if (made != nullptr) certificates.push_back(*made);
    }
  }

  static std::array<std::uint8_t, 16> identity(const std::string& text) {
    const program::Hash hash = program::sha256(std::as_bytes(std::span(text)));
    std::array<std::uint8_t, 16> first{};
    std::transform(hash.begin(), hash.begin() + first.size(), first.begin(),
                   [](auto byte) { return static_cast<std::uint8_t>(byte); });
    return first;
  }

  std::shared_ptr<const Sites> sites_of(const program::BindRecord& bind,
                                        const std::shared_ptr<net::tls::TicketKeys>& tickets) {
    const SectionView& section = program_.listeners_section();
    auto made = std::make_shared<Sites>(tickets);
    const auto add = [&](const std::string& pattern, std::uint32_t listener) {
      if (listener != program::kNone && sites_[listener] != nullptr) made->add(pattern, sites_[listener]);
    };
    for (const program::NameEntry& entry : section.array(bind.listeners.entries)) {
      const std::string name(section.string(entry.name));
      add(name, entry.exact);
      add("*." + name, entry.wildcard);
    }
    add("", bind.listeners.fallback);
    if (made->any() == nullptr) return nullptr;
    if (store_->challenges_ != nullptr) made->answer_challenges(store_->challenges_->sites());
    return made;
  }

  // ---- Backends ----

  std::shared_ptr<const ClientContext> backend(const program::BackendRecord& record) {
    const SectionView& section = program_.backends_section();
    const program::BackendTlsRecord* tls = program::optional_of(section, record.tls);
    if (tls == nullptr) return nullptr;
    const std::string user =
        "backend " + std::string(section.string(record.name_space)) + "/" + std::string(section.string(record.name));
    return client(section, *tls, user, record.protocol == program::BackendProtocol::kHttp2 ? "h2" : "http/1.1");
  }

  TlsStore::ClusterContexts contexts(const SectionView& section, const program::ClusterRefRecord& record) {
    const program::BackendTlsRecord& tls = section.array(record.tls).front();
    const std::string name(section.string(record.cluster));
    TlsStore::ClusterContexts made;
    const auto add = [&](const std::string& cluster, const std::string& uri) {
      made.emplace(cluster, client(section, tls, "traffic to cluster " + cluster, "h2", uri));
    };
    const std::string* const peers =
        secrets_.find(program::kClusterSecretSpace, program::kClusterSecretName, program::kClusterPeersKey);
    const std::vector<std::string> uris = peers == nullptr ? std::vector<std::string>() : program::peer_uris(*peers);
    if (name != program::kAnyCluster) {
      // One that is not listed is not asked either: it would be found out at each connection anew.
      if (std::ranges::find(uris, program::cluster_uri(name)) != uris.end()) {
        add(name, {});
      } else {
        made.emplace(name, nullptr);
      }
      return made;
    }
    for (const std::string& uri : uris) {
      if (uri.starts_with(program::kClusterUri)) add(uri.substr(program::kClusterUri.size()), uri);
    }
    return made;
  }

  /// `uri`: what the certificate must have, in place of what the record says.
  std::shared_ptr<const ClientContext> client(const SectionView& section, const program::BackendTlsRecord& tls,
                                              const std::string& user, const std::string& protocol,
                                              const std::string& uri = {}) {
    if ((tls.flags & program::kRefuseConnections) != 0) return nullptr;
    ClientSettings settings;
    settings.server_name = section.string(tls.server_name);
    std::string key;
    settings.authorities =
        authorities(section, section.array(tls.authorities), (tls.flags & program::kSystemAuthorities) != 0, user, key);
    if (settings.authorities == nullptr) {
      fault(user, "whom to trust is not known; no connection is made");
      return nullptr;
    }
    if (!uri.empty()) {
      settings.names.push_back({PeerName::Kind::kUri, uri});
      key += "uri " + uri + "\n";
    }
    for (const program::SubjectNameRecord& name : section.array(tls.alternative_names)) {
      settings.names.push_back(
          {name.uri == 1 ? PeerName::Kind::kUri : PeerName::Kind::kHost, std::string(section.string(name.name))});
      key += (name.uri == 1 ? "uri " : "host ") + settings.names.back().text + "\n";
    }
    if (const SecretRecord* own = program::optional_of(section, tls.client_certificate)) {
      const ServerCertificate* shown = certificate(section, *own, user);
      if (shown == nullptr) {
        fault(user, "the certificate to come with is missing; no connection is made");
        return nullptr;
      }
      settings.certificate = shown->certificate;
      key += "certificate " + *secrets_.find(section, *own, program::kCertificateKey) +
             *secrets_.find(section, *own, program::kPrivateKeyKey);
    }
    settings.protocols = {protocol};
    key += "name " + settings.server_name + "\nprotocol " + settings.protocols.front();
    if (auto made = known(&TlsStore::client_contexts_, key)) return made;
    auto made = ClientContext::make(std::move(settings));
    if (!made) {
      fault(user, made.error().text);
      return nullptr;
    }
    return store_->client_contexts_.emplace(key, *made).first->second;
  }

  const LoadedProgram& program_;
  const program::SecretSet& secrets_;
  const TlsStore* previous_;
  std::shared_ptr<TlsStore> store_;
  std::vector<std::shared_ptr<const Site>> sites_;
};

std::shared_ptr<const TlsStore> TlsStore::make(const LoadedProgram& program, const program::SecretSet& secrets,
                                               std::shared_ptr<net::tls::TicketKeys> tickets,
                                               const TlsStore* previous) {
  return TlsStoreBuilder(program, secrets, previous).build(tickets);
}

std::vector<CertificateExpiry> TlsStore::expiries() const {
  std::vector<CertificateExpiry> all;
  for (const auto& [name, known] : certificates_) {
    const auto files = program::files_of_secret(name.second);
    // Gateways of several namespaces may have one file.
    all.push_back({files ? files->certificate : name.first + "/" + name.second, known.made.certificate->not_after()});
  }
  std::ranges::sort(all, {}, &CertificateExpiry::secret);
  const auto doubles = std::ranges::unique(all, {}, &CertificateExpiry::secret);
  all.erase(doubles.begin(), doubles.end());
  return all;
}

}  // namespace edge::runtime
