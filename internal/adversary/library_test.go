package adversary_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
)

var kebab = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)

// checkEntry checks the properties that reports and golden files need.
func checkEntry(t *testing.T, seen map[string]bool, name, about, source string) {
	t.Helper()
	if seen[name] || !kebab.MatchString(name) {
		t.Errorf("name %q is taken, or not in kebab case", name)
	}
	seen[name] = true
	if !strings.HasSuffix(about, ".") || strings.Contains(strings.TrimSuffix(about, "."), ". ") || strings.Contains(about, "  ") {
		t.Errorf("%s: %q is not one sentence", name, about)
	}
	if source == "" {
		t.Errorf("%s has no source", name)
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	var templates []certs.Template
	for _, id := range adversary.Identities(victim) {
		checkEntry(t, names, id.Name, id.Attack, id.Source)
		if id.SignedBy != domain && id.SignedBy != adversary.Sibling(domain) {
			t.Errorf("%s is signed by %s", id.Name, id.SignedBy)
		}
		if id.SignedBy == domain {
			if slices.ContainsFunc(templates, func(u certs.Template) bool { return cmp.Equal(u, id.Template) }) {
				t.Errorf("%s has the certificate of another identity", id.Name)
			}
			templates = append(templates, id.Template)
		}
	}
	for _, invalid := range []spiffeid.ID{{}, domain.ID()} {
		if got := adversary.Identities(invalid); got != nil {
			t.Errorf("%q has %d mutations", invalid, len(got))
		}
	}
}

// TestNoMutationIsTheVictim shows that no mutation is the victim's own SVID. Such a mutation
// would make a sound policy look broken.
func TestNoMutationIsTheVictim(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		td := spiffeid.RequireTrustDomainFromString(rapid.StringMatching(`[a-z0-9]{1,8}(\.[a-z0-9]{1,4})?`).Draw(t, "trust domain"))
		segments := rapid.SliceOfN(rapid.StringMatching(`ns|sa|attacker|other-attacker|[a-zA-Z0-9_-]{1,6}`), 1, 4).Draw(t, "path")
		victim := spiffeid.RequireFromSegments(td, segments...)
		if a := adversary.Attacker(victim); a == victim || strings.HasPrefix(a.String(), victim.String()) {
			t.Fatalf("%s is attacked by %s", victim, a)
		}
		for _, id := range adversary.Identities(victim) {
			if id.SignedBy == td && slices.Equal(id.Template.URIs, []string{victim.String()}) {
				t.Fatalf("%s of %s is the victim's own SVID", id.Name, victim)
			}
			if len(id.Template.URIs) == 1 && id.Template.URIs[0] == adversary.Attacker(victim).String() && len(id.Template.DNS) == 0 {
				t.Fatalf("%s of %s is the attacker's own SVID", id.Name, victim)
			}
		}
	})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, list := range [][]adversary.Request{
		adversary.Requests(protectedMethod, protectedPath),
		adversary.Requests("HEAD", "/1/2"),
		adversary.Headers(protectedHeader, protectedValue),
	} {
		names := map[string]bool{}
		for _, r := range list {
			checkEntry(t, names, r.Name, r.Attack, r.Source)
			h2 := r.Protocol == policy.HTTP2
			if h2 != strings.HasPrefix(r.Name, "h2-") || !h2 && r.Protocol != policy.HTTP {
				t.Errorf("%s is of protocol %s", r.Name, r.Protocol)
			}
			if h2 && r.Head != "" || !h2 && r.Fields != nil {
				t.Errorf("%s is raw in the form of the other protocol", r.Name)
			}
			if r.Raw() == (r.Method != "" || r.Path != "" || r.Authority != "") {
				t.Errorf("%s is both raw and plain, or neither", r.Name)
			}
			if !r.Raw() && r.Method == "HEAD" && r.Path == "/1/2" && r.Headers == nil && r.Authority == adversary.Authority {
				t.Errorf("%s is no mutation", r.Name)
			}
		}
	}
	for _, invalid := range [][2]string{{"", "/admin"}, {"GET", ""}, {"GET", "/"}, {"GET", "admin"}} {
		if got := adversary.Requests(invalid[0], invalid[1]); got != nil {
			t.Errorf("%q has %d mutations", invalid, len(got))
		}
	}
}
