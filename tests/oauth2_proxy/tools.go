//go:build tools

// What tests/oidc/oauth2_proxy_test.cc asks as its authorization service, at the version of go.mod.
package oauth2_proxy

import _ "github.com/oauth2-proxy/oauth2-proxy/v7"
