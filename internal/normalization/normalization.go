// Package normalization turns what becomes of paths into the settings of Envoy's HTTP connection
// manager, and back.
//
// It guarantees that [Of] returns what [Set] was given. It does not normalize a path: package
// policy does.
package normalization

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/policy"
)

// Set makes a connection manager normalize paths.
func Set(m *hcmv3.HttpConnectionManager, n policy.PathNormalization) {
	m.NormalizePath, m.MergeSlashes = wrapperspb.Bool(!n.Raw), !n.KeepSlashes
	switch n.EscapedSlashes {
	case policy.RejectEscapedSlashes:
		m.PathWithEscapedSlashesAction = hcmv3.HttpConnectionManager_REJECT_REQUEST
	case policy.KeepEscapedSlashes:
		m.PathWithEscapedSlashesAction = hcmv3.HttpConnectionManager_KEEP_UNCHANGED
	case policy.UnescapeSlashes:
		m.PathWithEscapedSlashesAction = hcmv3.HttpConnectionManager_UNESCAPE_AND_FORWARD
	}
}

// FromManager returns how a connection manager normalizes paths. It is redirected where a path with escaped
// slashes is answered with a redirect to the path without them, which no normalization says.
func FromManager(m *hcmv3.HttpConnectionManager) (n policy.PathNormalization, redirected bool) {
	n = policy.PathNormalization{Raw: !m.GetNormalizePath().GetValue(), KeepSlashes: !m.GetMergeSlashes(), EscapedSlashes: policy.KeepEscapedSlashes}
	switch m.GetPathWithEscapedSlashesAction() {
	case hcmv3.HttpConnectionManager_REJECT_REQUEST:
		n.EscapedSlashes = policy.RejectEscapedSlashes
	case hcmv3.HttpConnectionManager_UNESCAPE_AND_FORWARD:
		n.EscapedSlashes = policy.UnescapeSlashes
	case hcmv3.HttpConnectionManager_UNESCAPE_AND_REDIRECT:
		n.EscapedSlashes, redirected = policy.UnescapeSlashes, true
	}
	return n, redirected
}
