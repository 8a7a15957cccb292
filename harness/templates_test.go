package harness

import (
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	urltemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// byTemplate lets requests of a template in.
func byTemplate(t *testing.T, template string) xds.Filters {
	t.Helper()
	config, err := anypb.New(&urltemplatev3.UriTemplateMatchConfig{PathTemplate: template})
	if err != nil {
		t.Fatal(err)
	}
	return xds.Filters{HTTP: []*httprbacv3.RBAC{{Rules: &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{"rule": {
		Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_UriTemplate{UriTemplate: &corev3.TypedExtensionConfig{Name: "template", TypedConfig: config}}}},
		Principals:  []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
	}}}}}}
}

// TestEnvoyTemplates asks Envoy by templates of paths, for each class of what package lift
// reads, and for paths with every character.
func TestEnvoyTemplates(t *testing.T) {
	t.Parallel()
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	programs := map[string]policy.Program{}
	paths := map[string][]string{}
	for i, template := range []string{"/api/*/x", "/a/**", "/b/{v=**}.json", "/c/{id}", "/d/*=", "/e/{x=*}/{y=**}", "/f/{x=g/*}", "/h/*/", "/plain"} {
		f := byTemplate(t, template)
		spec.Inbounds = append(spec.Inbounds, Inbound{Name: template, Identity: backend, Address: address(uint16(8000 + i)), Protocol: policy.HTTP, Filters: f})
		p, lost := lift.Program(f, 8000)
		if len(lost) > 0 {
			t.Fatalf("%s: lost %q", template, lost)
		}
		programs[template] = p
		cover := classes.Cut(classes.Surface{TrustDomains: []string{domain.Name()}}, p)
		if !cover.Complete() {
			t.Errorf("%s: %s", template, cover)
		}
		for n, class := range cover.Classes {
			paths[template] = append(paths[template], class.Witness.Path)
			for _, neighbour := range cover.Neighbours(n) {
				paths[template] = append(paths[template], neighbour.Request.Path)
			}
		}
		paths[template] = append(paths[template], "/api/a/b/x", "/api/a=b*c/x", "/a", "/a/b/c=d*", "/b/.json", "/b/xjson", "/c/a=1", "/d/a", "/e/a", "/e/a/", "/f/a/b", "/f/g/b", "/h/a", "/h/a/")
		// The normalization escapes other characters, or takes them for something else.
		for _, c := range "!$&'()*+,-.:;=@[]_~09azAZ" {
			paths[template] = append(paths[template], "/c/a"+string(c)+"b", "/a/a"+string(c)+"b")
		}
	}
	m := sharedEnvoy.Get(t).Mesh(t, spec)
	svid := mint(t, m, frontend)
	for template, p := range programs {
		var requests []Request
		for _, path := range paths[template] {
			requests = append(requests, Request{To: template, Credential: svid, Method: "GET", Path: path})
		}
		findings := stream(t, m, requests...)
		for i, path := range paths[template] {
			want := evidence.Refused
			if policy.Decide(p, policy.Request{URIs: []string{frontend.String()}, Method: "GET", Path: path}).Effect == policy.Allow {
				want = evidence.Served
			}
			if got := findings[i].Form; got != want && got != evidence.Rejected {
				t.Errorf("%s: %s: %s, want %s", template, path, got, want)
			}
		}
	}
}
