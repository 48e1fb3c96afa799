// An agent's state on disk: its identity, and what it last served. Its directory (mode 0700, files 0600) contains
//
//   agent.pem          its certificate and key
//   joining.key        the key to join with, before the first certificate
//   authorities.pem    CAs trusted for the controller
//   program.key.pub    the key that programs must be signed with
//   program.key.fixed  there where the join file said this key: no controller replaces it
//   program.edgeprog   the last installed program, and its values:
//   endpoints.json
//   secrets.sealed     encrypted with seal.key (decision 0060)
//   addresses.sealed   virtual addresses, and the key for agents' messages; likewise
//   vips               state of virtual addresses: whether the agent is drained (agent/vip/holder.h)
//
// Each file is replaced atomically. What is read back is not trusted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "net/tls/identity.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"

namespace edge::agent {

struct Identity {
  std::string certificate;    ///< PEM
  std::string key;            ///< PEM
  std::string authorities;    ///< PEM
  std::string program_key;    ///< PEM
  bool key_is_fixed = false;  ///< by the join file: the controller may be a relay, which signs nothing
  net::tls::CertificateTimes times;
};

struct Kept {
  std::shared_ptr<const std::vector<std::byte>> program;
  program::EndpointSet endpoints;
  program::SecretSet secrets;
};

/// For one thread at a time.
class AgentStore {
 public:
  /// Opens the directory, created when missing. `name`: of the agent; encrypted files are bound to it. An invalid key
  /// in the directory is set aside and replaced, with a log message; one in `seal_key_file` is the operator's.
  static Result<AgentStore> open(const std::string& directory, const std::string& name,
                                 const std::string& seal_key_file, const Logger& log = Logger());

  /// kNotFound before the first one; kFailedPrecondition when it is another agent's, or damaged.
  Result<Identity> identity() const;
  Status keep(const Identity& identity) const;
  /// Returns the key to join with. Kept until there is an identity: a controller that has signed for it, and whose
  /// response was lost, gives the name to no other key.
  Result<std::string> joining_key() const;

  /// kNotFound before the first program. Values that cannot be read are omitted: `fault` then says why.
  Result<Kept> last(std::string& fault) const;
  Status keep_program(const std::vector<std::byte>& program) const;
  /// Returns them in the form of the controller's message. kNotFound before the first one.
  Result<std::string> addresses() const;
  Status keep_addresses(const std::string& message) const;
  /// The assignment of the SD-WAN likewise.
  Result<std::string> links() const;
  Status keep_links(const std::string& message) const;
  Status keep_values(const program::EndpointSet& endpoints, const program::SecretSet& secrets) const;

 private:
  AgentStore(std::string directory, std::string name, std::string key)
      : directory_(std::move(directory)), name_(std::move(name)), seal_key_(std::move(key)) {}
  std::string path(const char* file) const { return directory_ + "/" + file; }

  std::string directory_;
  std::string name_;
  std::string seal_key_;
};

}  // namespace edge::agent
