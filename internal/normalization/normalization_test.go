package normalization_test

import (
	"testing"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/meshproof/meshproof/internal/normalization"
	"github.com/meshproof/meshproof/policy"
)

// TestThereAndBack reads back each normalization that was set.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for _, escaped := range []policy.EscapedSlashes{policy.RejectEscapedSlashes, policy.KeepEscapedSlashes, policy.UnescapeSlashes} {
		for _, raw := range []bool{false, true} {
			for _, keep := range []bool{false, true} {
				want := policy.PathNormalization{Raw: raw, KeepSlashes: keep, EscapedSlashes: escaped}
				m := &hcmv3.HttpConnectionManager{}
				normalization.Set(m, want)
				if got, redirected := normalization.FromManager(m); got != want || redirected {
					t.Errorf("got %+v, %v, want %+v", got, redirected, want)
				}
			}
		}
	}
}

// TestDefaults reads a connection manager without settings: Envoy then leaves paths alone. A
// redirect is told.
func TestDefaults(t *testing.T) {
	t.Parallel()
	want := policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}
	if got, redirected := normalization.FromManager(&hcmv3.HttpConnectionManager{}); got != want || redirected {
		t.Errorf("got %+v, %v", got, redirected)
	}
	redirects := &hcmv3.HttpConnectionManager{PathWithEscapedSlashesAction: hcmv3.HttpConnectionManager_UNESCAPE_AND_REDIRECT}
	if _, redirected := normalization.FromManager(redirects); !redirected {
		t.Error("a redirect is not told")
	}
}
