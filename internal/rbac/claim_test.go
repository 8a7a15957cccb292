package rbac

import (
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestClaim holds the messages that ask for a text and for a list.
func TestClaim(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		is   policy.Is
		want string
	}{
		{attribute.Claim("iss").Prefix("https:"), `sourced_metadata { metadata_matcher { filter: "envoy.filters.http.jwt_authn"
			path { key: "payload" } path { key: "iss" } value { string_match { prefix: "https:" } } } }`},
		{attribute.Claim("realm", "roles", "[]").Exact("dev"), `sourced_metadata { metadata_matcher { filter: "envoy.filters.http.jwt_authn"
			path { key: "payload" } path { key: "realm" } path { key: "roles" } value { list_match { one_of { string_match { exact: "dev" } } } } } }`},
		{attribute.Claim("\xff").Exact("dev"), "any: false"},
	} {
		when := simplify(tt.is)
		if when == policy.Never {
			if tt.want != "any: false" {
				t.Errorf("%s never holds", tt.is)
			}
			continue
		}
		want := &rbacv3.Principal{}
		if err := prototext.Unmarshal([]byte(tt.want), want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, rowOf(tt.is.Attribute).principal(tt.is.Match), protocmp.Transform()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.is, diff)
		}
	}
}
