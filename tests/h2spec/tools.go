//go:build tools

// What script/check-h2spec builds: the conformance tests of HTTP/2, at the versions of go.mod.
package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2spec"
