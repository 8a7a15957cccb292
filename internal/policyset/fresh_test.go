package policyset

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A name that begins with a long name is longer, and Kubernetes takes no label over 63 bytes.
// Each of these sets once had such a label.
func TestFreshLabelsAreShort(t *testing.T) {
	t.Parallel()
	for _, drawn := range []struct {
		form         Form
		seed, number uint64
	}{{GatewayAPI, 138516125, 24}, {Cilium, 77827860, 8}, {Cilium, 14, 369}} {
		c := DrawFresh(drawn.seed, drawn.number, drawn.form)
		if _, err := verdict.Read(c); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// Whatever feature a compiler recognizes drawn sets by, some of them have it and some do not.
func TestNoFeatureTellsDrawnSets(t *testing.T) {
	t.Parallel()
	sets := 300
	if testing.Short() {
		sets = 120
	}
	textOf := func(c cases.Case) (out string) {
		for _, p := range c.Policies {
			var v any
			if err := p.Decode(&v); err != nil {
				t.Fatal(err)
			}
			line, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			out += string(line) + "\n"
		}
		return out
	}
	var text string
	has := func(pattern string) func(cases.Case) bool {
		p := regexp.MustCompile(pattern)
		return func(cases.Case) bool { return p.MatchString(text) }
	}
	anyInbound := func(holds func(cases.Inbound) bool) func(cases.Case) bool {
		return func(c cases.Case) bool { return slices.ContainsFunc(c.Inbounds, holds) }
	}
	is := map[string]func(cases.Case) bool{
		"a trust domain with two parts": func(c cases.Case) bool { return strings.Count(c.TrustDomains[0].Name(), ".") == 1 },
		"a trust domain of .example":    func(c cases.Case) bool { return strings.HasSuffix(c.TrustDomains[0].Name(), ".example") },
		"a short trust domain":          func(c cases.Case) bool { return len(c.TrustDomains[0].Name()) < 15 },
		"the usual trust domain":        func(c cases.Case) bool { return c.TrustDomains[0] == ownDomain },
		"names of three letters":        func(c cases.Case) bool { return len(c.Inbounds[0].Workload.Name) <= 3 },
		"names of five letters":         func(c cases.Case) bool { return len(c.Inbounds[0].Workload.Name) == 5 },
		"names with digits":             func(c cases.Case) bool { return strings.ContainsAny(c.Inbounds[0].Workload.Name, "0123456789") },
		"the label app":                 func(c cases.Case) bool { return c.Inbounds[0].Workload.Labels["app"] != "" },
		"two labels":                    func(c cases.Case) bool { return len(c.Inbounds[0].Workload.Labels) == 2 },
		"the usual addresses":           func(c cases.Case) bool { return c.Inbounds[0].IP == addressOf(0) },
		"addresses of 10.0.0.0/8":       func(c cases.Case) bool { return c.Inbounds[0].IP.As4()[0] == 10 },
		"one policy":                    func(c cases.Case) bool { return len(c.Policies) == 1 },
		"more than four policies":       func(c cases.Case) bool { return len(c.Policies) > 4 },
		"little text":                   func(cases.Case) bool { return len(text) < 500 },
		"much text":                     func(cases.Case) bool { return len(text) > 2000 },
		"one inbound":                   func(c cases.Case) bool { return len(c.Inbounds) == 1 },
		"more than four inbounds":       func(c cases.Case) bool { return len(c.Inbounds) > 4 },
		"as many peers as workloads":    func(c cases.Case) bool { return len(c.Options.Peers) <= 2 },
		"the mesh default":              func(c cases.Case) bool { return c.Inbounds[0].Workload.Mesh == "default" },
		"a well-known port":             anyInbound(func(in cases.Inbound) bool { return in.Port < 1024 }),
		"the port 8080":                 anyInbound(func(in cases.Inbound) bool { return in.Port == 8080 }),
		"a high port":                   anyInbound(func(in cases.Inbound) bool { return in.Port > 30_000 }),
		"an inbound of gRPC":            anyInbound(func(in cases.Inbound) bool { return in.Protocol == policy.GRPC }),
		"the options":                   func(c cases.Case) bool { return len(c.Options.Document.Keys()) > 0 },
		"a namespace of its own": func(c cases.Case) bool {
			_, ok := c.Options.Document.Lookup("systemNamespace")
			return ok
		},
		"fields of an API server":         has(`"resourceVersion"`),
		"SPIFFE IDs of a service account": has(`/ns/[^"]*/sa/`),
		"a long path":                     has(`"/[^"]{40}`),
		"a name with a dash":              func(c cases.Case) bool { return strings.Contains(c.Inbounds[0].Workload.Name, "-") },
		"a long name":                     func(c cases.Case) bool { return len(c.Inbounds[0].Workload.Name) > 12 },
		"a trust domain without a dot": func(c cases.Case) bool {
			return !strings.Contains(c.TrustDomains[0].Name(), ".") && c.TrustDomains[0].Name() != "default"
		},
		"a trust domain with _":          func(c cases.Case) bool { return strings.Contains(c.TrustDomains[0].Name(), "_") },
		"a long trust domain":            func(c cases.Case) bool { return len(c.TrustDomains[0].Name()) > 40 },
		"the trust domain cluster.local": func(c cases.Case) bool { return c.TrustDomains[0].Name() == "cluster.local" },
		"managed fields":                 has(`"managedFields"`),
		"an owner":                       has(`"ownerReferences"`),
		"a UUID of any variant":          has(`"uid":"[0-9a-f-]{19}[89b]`),
		"what kubectl applied":           has(`last-applied-configuration":"\{\\"apiVersion`),
		"who manages the metadata":       has(`"f:metadata"`),
		"who manages the status":         has(`"subresource":"status"`),
		"a second owner":                 has(`"ownerReferences":\[\{[^]]*\},\{`),
		"an owner that stays":            has(`"blockOwnerDeletion"`),
		"a third finalizer":              has(`"finalizers":\[("[^"]*",){2}`),
		"a reason of its own":            has(`"reason":"Invalid"`),
		"more than 200 peers":            func(c cases.Case) bool { return len(c.Options.Peers) > 200 },
		"finalizers":                     has(`"finalizers"`),
		"a label with a slash": func(c cases.Case) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(c.Inbounds[0].Workload.Labels)), func(key string) bool { return strings.Contains(key, "/") })
		},
		"the origin global": anyInbound(func(in cases.Inbound) bool { return in.Workload.Origin == "global" }),
		"very much text":    func(cases.Case) bool { return len(text) > 10_000 },
		"GET":               has(`"GET"`),
		"PATCH":             has(`"PATCH"`),
	}
	count := map[string]int{}
	for number := range uint64(sets) {
		c := DrawFresh(9, number)
		if _, err := verdict.Read(c); err != nil {
			t.Fatalf("%v\n%s", err, casewriter.YAML(c))
		}
		text = textOf(c)
		for name, holds := range is {
			if holds(c) {
				count[name]++
			}
		}
	}
	for name := range is {
		if n := count[name]; n < sets/100 || n > sets*39/40 {
			t.Errorf("%s: %d of %d sets", name, n, sets)
		}
	}
}

// Another case is made of nearly each case that was written. It has none of its names, or they
// stayed on purpose, and it asks for the same features.
func TestFromCase(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		var some []cases.Case
		for i := 0; i < len(all); i += 3 {
			some = append(some, all[i])
		}
		all = some
	}
	made, renamed, refused, altered := 0, 0, 0, 0
	for i, c := range all {
		out, ok := FromCase(c, 3, uint64(i))
		if !ok {
			t.Log(c.Name)
			continue
		}
		made++
		_, err := verdict.Read(out)
		switch {
		case (err != nil) != (c.ExpectError != "") || err != nil && err.Error() != out.ExpectError:
			t.Errorf("%s: %v", c.Name, err)
		case err != nil:
			refused++
		}
		if len(out.Requests) > 0 || len(out.Policies) < len(c.Policies) || len(c.Inbounds) > 0 && len(out.Inbounds) < len(c.Inbounds) || !slices.Equal(out.Features, c.Features) {
			t.Errorf("%s: %+v", c.Name, out)
		}
		if len(c.Inbounds) > 0 && out.Inbounds[0].Workload.Name != c.Inbounds[0].Workload.Name {
			renamed++
		}
		for k, p := range c.Policies {
			if shape(t, p) != shape(t, out.Policies[k]) {
				altered++
				break
			}
		}
		if testing.Short() && i%4 != 0 {
			continue
		}
		if again, _ := FromCase(c, 3, uint64(i)); string(casewriter.YAML(again)) != string(casewriter.YAML(out)) {
			t.Errorf("%s: another case is made the second time", c.Name)
		}
	}
	if made < len(all)*9/10 || renamed < (made-refused)/2 || refused < 5 || altered < made/10 || altered > made/2 {
		t.Errorf("of %d cases %d are made, %d renamed, %d refused, %d altered", len(all), made, renamed, refused, altered)
	}
}

// shape returns the spec of a policy without its values, and without what decides nothing.
func shape(t *testing.T, p manifest.Document) string {
	var v any
	if err := p.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var of func(v any) any
	of = func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = of(v[i])
			}
			return v
		case map[string]any:
			for key, value := range v {
				if tree.HoldsLabels(key) {
					v[key] = len(value.(map[string]any))
				} else {
					v[key] = of(value)
				}
			}
			return v
		default:
			return ""
		}
	}
	spec, _ := of(v).(map[string]any)["spec"].(map[string]any)
	if refs, ok := spec["targetRefs"].([]any); ok {
		for _, ref := range refs {
			if ref, ok := ref.(map[string]any); ok {
				delete(ref, "group")
				delete(ref, "name")
			}
		}
	}
	return fmt.Sprint(spec)
}

// Each feature of the table is needed by some sets, and, where it is a choice, not by others.
func TestNeeds(t *testing.T) {
	t.Parallel()
	for _, p := range feature.Profiles() {
		if len(Forms(p)) == 0 {
			continue
		}
		count := map[feature.Name]int{}
		sets := 400
		if testing.Short() {
			sets = 150
		}
		for number := range uint64(sets) {
			for _, name := range Needs(Draw(3, number, Forms(p)...)) {
				if f, ok := feature.Lookup(name); !ok {
					t.Fatalf("there is no feature %s", name)
				} else if f.Profile == p {
					count[name]++
				}
			}
		}
		for _, n := range slices.Concat(needs, partNeeds) {
			if n.profile == p && (count[n.feature] == 0 || count[n.feature] == sets) {
				t.Errorf("%d of %d sets need %s", count[n.feature], sets, n.feature)
			}
		}
		if name, ok := permissive[p]; ok && (count[name] == 0 || count[name] == sets) {
			t.Errorf("%d of %d sets need %s", count[name], sets, name)
		}
	}
}

// A set whose names have changed needs what it needed before: a compiler is not asked for what it does not claim.
func TestNeedsOfOtherNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		form    Form
		feature feature.Name
		has     *regexp.Regexp
	}{
		{Istio, "IstioTemplates", regexp.MustCompile(`\{\*`)},
		{Istio, "IstioHeaders", regexp.MustCompile(`request\.headers`)},
		{Istio, "IstioTokens", regexp.MustCompile(`request\.auth|equestPrincipals|RequestAuthentication`)},
		{KumaFrom, "LegacyCrossMesh", regexp.MustCompile(`targetRef"?: ?\{[^}]*\bmesh"?:`)},
	} {
		found := 0
		for number := range uint64(60) {
			c := DrawFresh(3, number, tt.form)
			text := ""
			for _, doc := range c.Policies {
				text += doc.Flow()
			}
			if !tt.has.MatchString(text) {
				continue
			}
			found++
			if !slices.Contains(Needs(c), tt.feature) {
				t.Errorf("set %d needs %s, and does not say so: %s", number, tt.feature, tt.has.FindString(text))
			}
		}
		if found == 0 {
			t.Errorf("no set needs %s", tt.feature)
		}
	}
}

// Other cases are made of a case with a Dataplane, whose workload has no namespace.
func TestFromCaseWithDataplane(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, c := range all {
		if len(c.Inbounds) == 0 || c.Inbounds[0].Workload.Namespace != "" {
			continue
		}
		for number := range uint64(20) {
			if _, ok := FromCase(c, 3, number); ok {
				made++
			}
		}
	}
	if made < 20 {
		t.Errorf("%d cases are made", made)
	}
}
