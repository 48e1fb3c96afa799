//go:build tools

// Package tools names the second CA that script/check-acme runs. It has a module of its own: with this many others, whose
// versions are not those of pebble.
package tools

import _ "github.com/smallstep/certificates/cmd/step-ca"
