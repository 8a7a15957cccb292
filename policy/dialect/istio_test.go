package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// What is converted to AuthorizationPolicies of Istio lets the same requests in as the
// MeshTrafficPermissions of the cases: the classes of requests of both programs show it. What
// cannot be said is an error with its field.
func TestConvertedToIstio(t *testing.T) {
	t.Parallel()
	converter := dialects.Having[capability.Converter]()[0]
	converted, refused, compared := 0, 0, 0
	for _, c := range casetest.Stories(t) {
		if len(c.Policies) == 0 || c.ExpectError != "" || slices.ContainsFunc(c.Policies, func(d manifest.Document) bool { return d.Type().Kind != "" && d.Type().Kind != "MeshTrafficPermission" }) {
			continue
		}
		if _, ok := c.Options.Document.Lookup("systemNamespace"); ok {
			continue // The command has no such option.
		}
		result, err := converter.Convert(c.Policies, "istio", spiffeid.TrustDomain{})
		if err != nil {
			if !strings.Contains(err.Error(), "istio cannot say it: ") {
				t.Errorf("%s: %v", c.Place, err)
			}
			refused++
			continue
		}
		converted++
		docs, err := manifest.Parse("istio.yaml", result.YAML)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.Place, err, result.YAML)
		}
		recent, err := dialect.Parse(docs, language.Options{TrustDomain: c.Options.TrustDomain})
		if err != nil {
			t.Errorf("%s: %v\n%s", c.Place, err, result.YAML)
			continue
		}
		old, err := dialect.Parse(c.Policies, c.Options)
		if err != nil {
			t.Fatal(err)
		}
		compared += compare(t, c, old, recent, result.YAML)
	}
	t.Logf("%d cases are converted, %d are refused, %d classes are compared", converted, refused, compared)
	if converted < 60 || refused < 10 || compared < 1000 {
		t.Errorf("%d cases are converted, %d are refused, %d classes are compared", converted, refused, compared)
	}
}

// compare compares the programs of two sets of policies on the inbounds of a case, class of
// requests by class.
func compare(t *testing.T, c cases.Case, old, recent language.Policies, made []byte) (compared int) {
	t.Helper()
	for _, in := range c.Inbounds {
		if in.Workload.Mesh != "" && in.Workload.Mesh != "default" {
			continue
		}
		before, after := old.Program(in.Inbound).Program, recent.Program(in.Inbound).Program
		on := classes.Surface{Protocol: in.Protocol, Normalization: c.Normalization, Ports: []uint16{in.Port}}
		for _, class := range classes.Cut(on, before, after).Classes {
			// Kuma compares one name of a caller, and Istio each of them.
			if len(class.Witness.URIs) > 1 {
				continue
			}
			compared++
			if was, is := policy.Decide(before, class.Witness), policy.Decide(after, class.Witness); was.Effect != is.Effect {
				t.Errorf("%s: %s: %s: %s was %s, and is %s\n%s", c.Place, in, class, requestOf(class.Witness), was.Verdict, is.Verdict, made)
				break
			}
		}
	}
	return compared
}

// TestConvertedToKuma converts the policies of Istio's cases, and Kuma's cases to Istio and back.
// The classes of requests of both programs decide alike; what cannot be said is an error with
// its field.
func TestConvertedToKuma(t *testing.T) {
	t.Parallel()
	back := dialects.ConverterTo("kuma")
	converted, refused, compared := map[bool]int{}, 0, 0
	for _, c := range casetest.Stories(t) {
		isIstio := slices.ContainsFunc(c.Policies, func(d manifest.Document) bool {
			return d.Type().Kind == "AuthorizationPolicy" && strings.HasPrefix(d.Type().APIVersion, "security.istio.io/")
		})
		isKuma := slices.ContainsFunc(c.Policies, func(d manifest.Document) bool {
			return d.Type().Type == "MeshTrafficPermission" || d.Type().Kind == "MeshTrafficPermission"
		})
		if _, ok := c.Options.Document.Lookup("systemNamespace"); ok || c.ExpectError != "" || isIstio == isKuma {
			continue
		}
		if _, ok := c.Options.Document.Lookup("istio"); ok {
			continue // The command has no such option.
		}
		docs := c.Policies
		if isKuma {
			there, err := dialects.ConverterTo("istio").Convert(docs, "istio", spiffeid.TrustDomain{})
			if err != nil {
				continue
			}
			if docs, err = manifest.Parse("istio.yaml", there.YAML); err != nil {
				t.Fatal(err)
			}
		}
		if isIstio {
			docs = append(slices.Clone(docs), nothing(t)...)
		}
		mesh := c.Options.TrustDomain
		if mesh.IsZero() {
			mesh = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
		}
		result, err := back.Convert(docs, "kuma", mesh)
		if err != nil {
			if !strings.Contains(err.Error(), "kuma cannot say it: ") || isKuma && !strings.Contains(err.Error(), "metadata.namespace: kuma cannot say it: the policies of kuma-system") {
				t.Errorf("%s: %v", c.Place, err)
			}
			refused++
			continue
		}
		converted[isKuma]++
		made, err := manifest.Parse("kuma.yaml", result.YAML)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.Place, err, result.YAML)
		}
		recent, err := dialect.Parse(made, language.Options{TrustDomain: c.Options.TrustDomain})
		if err != nil {
			t.Errorf("%s: %v\n%s", c.Place, err, result.YAML)
			continue
		}
		old, err := dialect.Parse(docs, language.Options{TrustDomain: c.Options.TrustDomain})
		if err != nil {
			t.Fatal(err)
		}
		compared += compare(t, c, old, recent, result.YAML)
	}
	t.Logf("%d cases of Istio and %d of Kuma are converted, %d are refused, %d classes are compared", converted[false], converted[true], refused, compared)
	if converted[false] < 10 || converted[true] < 60 || refused < 10 || compared < 1000 {
		t.Error("too few cases are converted or refused, or too few classes are compared")
	}
}

// nothing is the policy without which Istio lets callers in where no policy speaks.
func nothing(t *testing.T) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("nothing.yaml", []byte("{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: allow-nothing, namespace: istio-system}, spec: {}}"))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func requestOf(r policy.Request) string {
	return strings.Join(r.URIs, " ") + " " + r.Method + " " + r.Path
}
