package grpcplane_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/grpcplane"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startTimeout is the time limit for the start of a server. The start takes milliseconds.
const startTimeout = 20 * time.Second

func start(t testing.TB, domains []spiffeid.TrustDomain, programs []*rbacv3.RBAC) *grpcplane.Plane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	p, err := grpcplane.Start(ctx, domains, programs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// subject is a program that grpc-go can run.
type subject struct {
	name    string
	program policy.Program
	rules   *rbacv3.RBAC
	inbound policy.Inbound
}

// subjects returns the inbounds of a case whose programs grpc-go can run.
func subjects(t testing.TB, c cases.Case) []subject {
	t.Helper()
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		return nil
	}
	var out []subject
	for _, in := range c.Inbounds {
		if set.Check(in.Inbound) != nil {
			continue
		}
		p := set.Program(in.Inbound).Program
		if rules, err := grpcplane.Rules(p); err == nil {
			out = append(out, subject{fmt.Sprintf("%s: %s", c.Name, in), p, rules, in.Inbound})
		}
	}
	return out
}

// credentials issues each certificate once.
type credentials struct {
	plane *grpcplane.Plane
	known map[string]*certs.Credential
}

func (c credentials) credential(t testing.TB, uris, dns []string) *certs.Credential {
	t.Helper()
	key := fmt.Sprintf("%q %q", uris, dns)
	if c.known[key] == nil {
		signer := domain
		if len(uris) > 0 {
			if id, err := spiffeid.FromString(uris[0]); err == nil && slices.Contains(domains, id.TrustDomain()) {
				signer = id.TrustDomain()
			}
		}
		ca, err := c.plane.Authority(signer)
		if err != nil {
			t.Fatal(err)
		}
		if c.known[key], err = ca.Forge(certs.Template{URIs: uris, DNS: dns}); err != nil {
			t.Fatal(err)
		}
	}
	return c.known[key]
}

// The trust domains of the cases and of the sets.
var (
	domain  = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	domains = []spiffeid.TrustDomain{
		domain, spiffeid.RequireTrustDomainFromString("other.mesh"),
		spiffeid.RequireTrustDomainFromString("default"), spiffeid.RequireTrustDomainFromString("other"),
	}
)

// judge asks grpc-go about classes of each program and their neighbours, and returns the
// number of requests. With -short it asks about the first classes only.
func judge(t *testing.T, all []subject) (asked int) {
	t.Helper()
	rules := make([]*rbacv3.RBAC, len(all))
	for i, s := range all {
		rules[i] = s.rules
	}
	plane := start(t, domains, rules)
	callers := credentials{plane, map[string]*certs.Credential{}}
	ask := func(i int, r policy.Request) {
		if !seenAlike(r) {
			return
		}
		asked++
		got, err := plane.Ask(t.Context(), i, callers.credential(t, r.URIs, r.DNS))
		if err != nil {
			t.Fatalf("%s: %q %q: %v", all[i].name, r.URIs, r.DNS, err)
		}
		if want := policy.Decide(all[i].program, r).Effect; got != want {
			t.Errorf("%s: %q %q: grpc-go says %s, the program %s:\n%s", all[i].name, r.URIs, r.DNS, got, want, all[i].program)
		}
	}
	most := 40
	if testing.Short() {
		most = 4
	}
	for i, s := range all {
		cover := classes.Cut(classes.Surface{Protocol: s.inbound.Protocol}, s.program)
		for k, class := range cover.Classes[:min(len(cover.Classes), most)] {
			ask(i, class.Witness)
			for _, n := range cover.Neighbours(k) {
				ask(i, n.Request)
			}
		}
	}
	return asked
}

// seenAlike reports whether grpc-go and Envoy read the same names of a caller. The others are
// in TestDifferences, and the handshake refuses a caller without a name. Go reads no certificate
// with a URI whose host is no name, such as spiffe://.partner.example/a, and none with a letter beyond ASCII.
func seenAlike(r policy.Request) bool {
	odd := slices.ContainsFunc(r.URIs, func(uri string) bool {
		return strings.HasPrefix(uri, "spiffe://.") || strings.ContainsFunc(uri, func(c rune) bool { return c > unicode.MaxASCII })
	})
	return !odd && (len(r.URIs) > 0) != (len(r.DNS) > 0)
}

// TestCases judges the cases of GEP-3779, and of Kuma's first design, which has named rules
// too. With -short the test takes every ninth case.
func TestCases(t *testing.T) {
	t.Parallel()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	var all []subject
	for i, c := range stories {
		if testing.Short() && i%9 != 0 {
			continue
		}
		all = append(all, subjects(t, c)...)
	}
	if asked := judge(t, all); len(all) < 20 || asked < 10*len(all) {
		t.Errorf("%d requests to %d inbounds", asked, len(all))
	} else {
		t.Logf("%d requests to %d inbounds", asked, len(all))
	}
}

// TestRandomSets judges random sets of policies of the same dialects.
func TestRandomSets(t *testing.T) {
	t.Parallel()
	var all []subject
	sets := 150
	if testing.Short() {
		sets = 15
	}
	for number := range uint64(sets) {
		all = append(all, subjects(t, policyset.Draw(1, number, policyset.GatewayAPI, policyset.KumaFrom))...)
	}
	if asked := judge(t, all); len(all) < sets || asked < 5*len(all) {
		t.Errorf("%d requests to %d inbounds", asked, len(all))
	} else {
		t.Logf("%d requests to %d inbounds", asked, len(all))
	}
}

// BenchmarkAsk measures one decision over an open connection.
func BenchmarkAsk(b *testing.B) {
	rules, err := grpcplane.Rules(allowOnly(firstCaller))
	if err != nil {
		b.Fatal(err)
	}
	plane := start(b, domains, []*rbacv3.RBAC{rules})
	credential := credentials{plane, map[string]*certs.Credential{}}.credential(b, []string{firstCaller}, nil)
	for b.Loop() {
		if _, err := plane.Ask(b.Context(), 0, credential); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
