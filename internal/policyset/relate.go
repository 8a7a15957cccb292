package policyset

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Related makes another case from one that was written, as [FromCase] does, in which values have something to do
// with each other: two names are one name, a policy names the workload that it protects, a rule allows
// what another rule denies, or fields stand together that stood apart. The relations take turns with the
// number. A compiler that is wrong for one relation alone is wrong for no name by itself, so that
// other names do not show it. The result is false for a case of which no such case can be made.
func Related(c cases.Case, seed, number uint64) (cases.Case, bool) {
	if c.ExpectError != "" || len(c.Inbounds) == 0 || len(c.Policies) == 0 {
		return c, false
	}
	r := rand.New(rand.NewPCG(number, seed^relatedSeed))
	// Where the relations of all kinds would make policies that are refused, others are made, and then fewer.
	most, all := relating{true, true, true, true, true, true}, relating{names: true, values: true, workloads: true}
	usual, written := most, all
	usual.writing, written.writing = false, true
	for _, of := range []relating{
		most, most, {names: true, forms: true, writing: true}, written, usual, {names: true, forms: true}, {names: true, writing: true}, {names: true, values: true, workloads: true, together: true}, all, all, all, {values: true, workloads: true}, {names: true, values: true}, {names: true, workloads: true}, {names: true}, {values: true}, {workloads: true},
	} {
		m := &relation{chooser: &chooser{r.IntN}, rank: number, relating: of}
		out, err := m.rename(c, r)
		if err != nil {
			return c, false
		}
		out.Name, out.Place = c.Name, c.Place
		if _, err := verdict.Read(out); err == nil && !sharesNames(out) {
			return out, true
		}
	}
	return c, false
}

// sharesNames reports whether two inbounds have one name, so that no mesh can tell them apart.
func sharesNames(c cases.Case) bool {
	known := map[string]bool{}
	return slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool {
		was := known[in.String()]
		known[in.String()] = true
		return was
	})
}

// relatedSeed keeps the choices apart from those of [FromCase].
const relatedSeed = 0x5eed

// relating says which kinds of relations a set gets.
type relating struct{ names, values, workloads, together, forms, writing bool }

// relation makes the relations of one set.
type relation struct {
	*chooser
	rank uint64
	relating
	// inbound is the index of the one that the relations are about.
	inbound int
	profile feature.Profile
}

func (m *relation) rename(c cases.Case, r *rand.Rand) (cases.Case, error) {
	m.inbound, m.profile = m.choose(len(c.Inbounds)), profileOf(c.Policies[0])
	change := changes{}
	if m.names {
		change.names = m.oneName
	}
	change.set = func(out *cases.Case, policies []any, options map[string]any) []any {
		if m.values {
			policies = m.keys(out, m.value(out, policies))
		}
		if m.workloads {
			m.workload(out)
		}
		if m.together {
			policies = m.fieldsTogether(out, policies, options)
		}
		if m.forms {
			m.form(out, policies)
		}
		if m.relating.writing {
			policies = m.written(out, policies)
		}
		return policies
	}
	return renamed(c, r, m.rank, change)
}

// role is what a name is of.
type role uint8

const (
	ofWorkload role = iota
	ofOwnNamespace
	ofPolicy
	ofPolicyNamespace
	ofInbound
	ofLabelKey
	ofLabel
	ofMesh
	ofZone
	ofAccount
	ofAccountNamespace
	ofTrustDomain
	ofRoute
	roles
)

// pairsOfRoles are all pairs of two roles.
var pairsOfRoles = func() (out [][2]role) {
	for a := range roles {
		for b := range a {
			out = append(out, [2]role{a, b})
		}
	}
	return out
}()

// namesByRole returns the names of a case and its policies before they are replaced.
func (m *relation) namesByRole(c cases.Case, policies []any) map[role][]string {
	in := c.Inbounds[m.inbound]
	out := map[role][]string{
		ofWorkload: {in.Workload.Name}, ofOwnNamespace: {in.Workload.Namespace}, ofInbound: {in.Name}, ofMesh: {in.Workload.Mesh}, ofZone: {in.Workload.Zone},
	}
	for _, key := range sortedKeys(in.Workload.Labels) {
		out[ofLabelKey], out[ofLabel] = append(out[ofLabelKey], key), append(out[ofLabel], in.Workload.Labels[key])
	}
	out[ofLabelKey] = append(out[ofLabelKey], sortedKeys(in.Tags)...)
	for _, route := range in.Routes {
		out[ofRoute] = append(out[ofRoute], route.Name)
	}
	for _, td := range c.TrustDomains[:1] {
		out[ofTrustDomain] = append(out[ofTrustDomain], td.Name())
	}
	for _, p := range policies {
		metadata := metadataOf(p)
		name, _ := metadata["name"].(string)
		namespace, _ := metadata["namespace"].(string)
		out[ofPolicy], out[ofPolicyNamespace] = append(out[ofPolicy], name), append(out[ofPolicyNamespace], namespace)
	}
	for _, p := range policies {
		of, _ := p.(map[string]any)
		visit("", []any{of["spec"], of["specs"]}, func(key string, v any) {
			labels, _ := v.(map[string]any)
			if !named[key] || m.profile == feature.CiliumIngress && key == "labels" {
				return
			}
			for _, key := range sortedKeys(labels) {
				if text, ok := labels[key].(string); ok {
					out[ofLabel] = append(out[ofLabel], text)
				}
			}
		})
	}
	for _, account := range namedAccounts(policies) {
		out[ofAccountNamespace], out[ofAccount] = append(out[ofAccountNamespace], account[0]), append(out[ofAccount], account[1])
	}
	return out
}

// metadataOf returns what has the name of a policy.
func metadataOf(p any) map[string]any {
	policy, _ := p.(map[string]any)
	if metadata, ok := policy["metadata"].(map[string]any); ok {
		return metadata
	}
	return policy
}

var accountPattern = regexp.MustCompile(`(?:^|/)ns/([^/"]+)/sa/([^/"]+)$|^([a-z0-9-]+)/([a-z0-9-]+)$|^([a-z0-9-]+)\.([a-z0-9-]+)\.serviceaccount\.`)

// namedAccounts returns the service accounts that a value names, each as its namespace and its name.
func namedAccounts(v any) (out [][2]string) {
	visit("", v, func(key string, v any) {
		switch v := v.(type) {
		case string:
			switch found := accountPattern.FindStringSubmatch(v); {
			case found == nil:
			case found[1] != "":
				out = append(out, [2]string{found[1], found[2]})
			case found[3] != "" && (key == "serviceAccounts" || key == "notServiceAccounts"):
				out = append(out, [2]string{found[3], found[4]})
			case found[5] != "":
				out = append(out, [2]string{found[6], found[5]})
			}
		case map[string]any:
			if key == "serviceAccount" || key == "serviceAccounts" || v["kind"] == "ServiceAccount" {
				name, _ := v["name"].(string)
				namespace, _ := v["namespace"].(string)
				out = append(out, [2]string{namespace, name})
			}
		}
	})
	return out
}

// oneName gives two names of other roles the same new name, and another one a form that few names have.
func (m *relation) oneName(w *words, c cases.Case, policies []any) {
	names := m.namesByRole(c, policies)
	for _, n := range []uint64{m.rank / 2, m.rank/2*5 + 39} {
		pair := pairsOfRoles[n%uint64(len(pairsOfRoles))]
		if a, b := m.named(names[pair[0]]), m.named(names[pair[1]]); a != "" && b != "" && a != b && !w.merge(pair[0], a, b) {
			w.merge(pair[1], b, a)
		}
	}
	if m.rank%4 == 0 {
		// The whole account of the workload itself, and not only its name.
		if accounts := namedAccounts(policies); len(accounts) > 0 {
			of, in := pick(m.chooser, accounts...), c.Inbounds[m.inbound].Workload
			w.merge(ofAccount, of[1], in.Name)
			w.merge(ofAccountNamespace, of[0], in.Namespace)
		}
	}
	for _, n := range []uint64{m.rank, m.rank/2*5 + 7} {
		m.nameForm(w, c, names, formsOfNames[n%uint64(len(formsOfNames))])
	}
}

// nameForm gives a name of a kind a form that few names have.
func (m *relation) nameForm(w *words, c cases.Case, names map[role][]string, form formOfName) {
	if name := m.named(names[form.kind]); name != "" && !w.kept[name] {
		w.replaceWhole(form.kind, name, form.make(m.chooser, w.replace(w.names, m.named(names[ofOwnNamespace])), w.replace(w.names, name)))
	}
}

// named chooses one of the names that is not empty, and returns "" for none.
func (m *relation) named(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" || name == "*" })
	if len(names) == 0 {
		return ""
	}
	return pick(m.chooser, names...)
}

// formOfName is a form that few names have.
type formOfName struct {
	kind role
	make func(c *chooser, namespace, name string) string
}

// formsOfNames have names as long as Kubernetes takes them, of digits, of one character, with two dashes, and those
// that begin with each other.
var formsOfNames = []formOfName{
	{ofWorkload, func(c *chooser, _, _ string) string { return c.letters(63) }},
	{ofOwnNamespace, func(c *chooser, _, _ string) string { return c.letters(63) }},
	{ofPolicy, func(c *chooser, _, _ string) string { return c.letters(253) }},
	{ofWorkload, func(c *chooser, _, _ string) string { return c.letters(4) + "--" + c.letters(3) }},
	{ofWorkload, func(c *chooser, _, _ string) string { return c.letters(4) + "." + c.letters(3) }},
	{ofWorkload, func(c *chooser, _, _ string) string { return strings.Repeat(pick(c, "0", "1", "7"), c.number(1, 5)) }},
	{ofOwnNamespace, func(c *chooser, _, _ string) string { return strings.Repeat(pick(c, "0", "1", "7"), c.number(1, 5)) }},
	{ofOwnNamespace, func(c *chooser, _, _ string) string { return c.letters(1) }},
	{ofPolicy, func(c *chooser, _, _ string) string { return c.letters(3) + "--" + c.letters(3) }},
	{ofWorkload, func(c *chooser, namespace, _ string) string { return namespace + c.letters(1) }},
	{ofPolicy, func(c *chooser, namespace, _ string) string { return namespace + "-" + c.letters(2) }},
	{ofTrustDomain, func(c *chooser, _, _ string) string {
		return c.letters(60) + "." + c.letters(50) + "." + c.letters(3)
	}},
	{ofTrustDomain, func(c *chooser, _, _ string) string { return c.letters(1) }},
	{ofAccount, func(c *chooser, _, _ string) string { return "default" }},
	{ofLabel, func(c *chooser, _, _ string) string { return c.letters(63) }},
	{ofWorkload, func(c *chooser, _, name string) string { return name[:1] }},
	{ofPolicyNamespace, func(c *chooser, _, _ string) string { return c.letters(45) }},
	{ofLabel, func(c *chooser, _, _ string) string { return c.capitals(2) + "_" + c.letters(2) + "." + c.capitals(1) }},
	{ofLabel, func(c *chooser, _, _ string) string { return pick(c, "2024", "7", "007", "1e3", "true", "null") }},
	{ofLabel, func(c *chooser, _, _ string) string { return c.letters(2) + "--" + c.letters(2) }},
	{ofLabelKey, func(c *chooser, _, _ string) string {
		return c.letters(3) + "." + c.letters(2) + "/" + c.capitals(2) + "_" + c.letters(2)
	}},
	{ofLabelKey, func(c *chooser, _, _ string) string { return "app.kubernetes.io/" + c.letters(4) }},
	{ofLabelKey, func(c *chooser, _, _ string) string { return c.capitals(1) + c.letters(3) + "." + c.letters(2) }},
	{ofLabelKey, func(c *chooser, _, _ string) string { return c.letters(50) + "." + c.letters(50) + "/" + c.letters(63) }},
	{ofAccount, func(c *chooser, _, _ string) string { return c.letters(4) + "." + c.letters(3) }},
	{ofAccount, func(c *chooser, _, _ string) string { return c.letters(60) + "-" + c.letters(60) + "." + c.letters(60) }},
	{ofAccount, func(c *chooser, _, _ string) string {
		return pick(c, "2024", "7", "0x1", "null", "true", "constructor")
	}},
	{ofAccount, func(c *chooser, _, _ string) string { return c.letters(2) + "--" + c.letters(2) }},
	{ofAccountNamespace, func(c *chooser, _, _ string) string { return pick(c, "2024", "7", "0x1") }},
	{ofAccountNamespace, func(c *chooser, _, _ string) string { return c.letters(2) + "--" + c.letters(2) }},
	{ofAccountNamespace, func(c *chooser, _, _ string) string { return c.letters(63) }},
	{ofOwnNamespace, func(c *chooser, _, _ string) string { return c.letters(2) + "--" + c.letters(2) }},
	{ofInbound, func(c *chooser, _, _ string) string { return c.letters(1) }},
	{ofInbound, func(c *chooser, _, _ string) string { return pick(c, "2024", "8080", "7") }},
	// Pods of a StatefulSet are numbered.
	{ofWorkload, func(c *chooser, _, _ string) string { return c.letters(4) + "-" + pick(c, "0", "1", "12") }},
	{ofWorkload, func(c *chooser, _, _ string) string { return c.letters(4) + "-" + pick(c, "0", "2") }},
	{ofRoute, func(c *chooser, _, _ string) string { return c.letters(60) }},
	{ofTrustDomain, func(c *chooser, _, _ string) string { return pick(c, "2024", "10.1.2.3", "a_b.example", "x--y") }},
}

func (c *chooser) letters(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + c.choose(26))
	}
	return string(b)
}

func (c *chooser) capitals(n int) string { return strings.ToUpper(c.letters(n)) }

// merge gives a name of the role the new name of another one. It reports whether the new name may be one of the
// role.
func (w *words) merge(of role, name, with string) bool {
	if name == "" || with == "" || w.kept[name] {
		return false
	}
	to := w.replace(w.names, with)
	if td := w.domains[with]; td != "" {
		to = td
	}
	return w.replaceWhole(of, name, to)
}

// replaceWhole replaces a whole name, where the new name may be one of the role.
func (w *words) replaceWhole(of role, name, to string) bool {
	switch of {
	case ofTrustDomain:
		if _, err := spiffeid.TrustDomainFromString(to); err != nil {
			return false
		}
		if w.domains[name] != "" {
			w.domains[name] = to
			return true
		}
	case ofLabel:
		if len(validation.IsValidLabelValue(to)) > 0 {
			return false
		}
	case ofLabelKey:
		if len(validation.IsQualifiedName(to)) > 0 || strings.Contains(name, "/") {
			return false
		}
	case ofInbound:
		if w.short && len(validation.IsValidPortName(to)) > 0 || len(validation.IsDNS1123Label(to)) > 0 {
			return false
		}
	case ofPolicy, ofWorkload, ofAccount:
		if len(validation.IsDNS1123Subdomain(to)) > 0 {
			return false
		}
	default:
		if len(validation.IsDNS1123Label(to)) > 0 {
			return false
		}
	}
	w.wholes[name] = to
	return true
}
