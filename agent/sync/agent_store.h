// What an agent keeps on disk: who it is, and what it served last. Its directory (mode 0700, files 0600) holds
//
//   agent.pem          its certificate and key
//   joining.key        before the first certificate: the key that it joins with
//   authorities.pem    whom it believes to be its controller
//   program.key.pub    what programs must be signed with
//   program.edgeprog   the last program that was put to work, and its values:
//   endpoints.json
//   secrets.sealed     sealed with seal.key (decision 0060)
//   addresses.sealed   virtual addresses, and the key of agents' words; likewise
//   vips               of virtual addresses: whether the agent is drained (agent/vip/holder.h)
//
// Each file is replaced whole. What is read is as hostile as what came from anywhere else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/sync/identity.h"
#include "base/log.h"
#include "base/result.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"

namespace edge::agent {

struct Identity {
  std::string certificate;  ///< PEM
  std::string key;          ///< PEM
  std::string authorities;  ///< PEM
  std::string program_key;  ///< PEM
  CertificateTimes times;
};

struct Kept {
  std::shared_ptr<const std::vector<std::byte>> program;
  program::EndpointSet endpoints;
  program::SecretSet secrets;
};

/// One thread at a time.
class AgentStore {
 public:
  /// `name`: of the agent; what is sealed is bound to it. Makes the directory where it is missing. A key in it that is
  /// none is set aside and replaced, which `log` is told; one in `seal_key_file` is whoever's gave it.
  static Result<AgentStore> open(const std::string& directory, const std::string& name,
                                 const std::string& seal_key_file, const Logger& log = Logger());

  /// kNotFound before the first; kFailedPrecondition when it is another agent's, or broken.
  Result<Identity> identity() const;
  Status keep(const Identity& identity) const;
  /// The key to join with. It is kept until there is an identity: a controller that has signed for it, and whose answer
  /// was lost, gives the name to no other key.
  Result<std::string> joining_key() const;

  /// kNotFound before the first program. Without values that cannot be read: `fault` then says why.
  Result<Kept> last(std::string& fault) const;
  Status keep_program(const std::vector<std::byte>& program) const;
  /// As the controller's message has them. kNotFound before the first.
  Result<std::string> addresses() const;
  Status keep_addresses(const std::string& message) const;
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
