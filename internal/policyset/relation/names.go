package relation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

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
	for _, key := range tree.Keys(in.Workload.Labels) {
		out[ofLabelKey], out[ofLabel] = append(out[ofLabelKey], key), append(out[ofLabel], in.Workload.Labels[key])
	}
	out[ofLabelKey] = append(out[ofLabelKey], tree.Keys(in.Tags)...)
	for _, route := range in.Routes {
		out[ofRoute] = append(out[ofRoute], route.Name)
	}
	for _, td := range c.TrustDomains[:1] {
		out[ofTrustDomain] = append(out[ofTrustDomain], td.Name())
	}
	for _, p := range policies {
		metadata := tree.Metadata(p)
		name, _ := metadata["name"].(string)
		namespace, _ := metadata["namespace"].(string)
		out[ofPolicy], out[ofPolicyNamespace] = append(out[ofPolicy], name), append(out[ofPolicyNamespace], namespace)
	}
	for _, p := range policies {
		tree.Visit("", tree.Specs(p), func(key string, v any) {
			labels, _ := v.(map[string]any)
			if !tree.HoldsLabels(key) || m.profile == feature.CiliumIngress && key == "labels" {
				return
			}
			for _, key := range tree.Keys(labels) {
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

var accountPattern = regexp.MustCompile(`(?:^|/)ns/([^/"]+)/sa/([^/"]+)$|^([a-z0-9-]+)/([a-z0-9-]+)$|^([a-z0-9-]+)\.([a-z0-9-]+)\.serviceaccount\.`)

// namedAccounts returns the service accounts that a value names, each as its namespace and its name.
func namedAccounts(v any) (out [][2]string) {
	tree.Visit("", v, func(key string, v any) {
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
func (m *relation) oneName(to renaming.Names, c cases.Case, policies []any) {
	names := m.namesByRole(c, policies)
	for _, n := range []uint64{m.rank / 2, m.rank/2*5 + 39} {
		pair := pairsOfRoles[n%uint64(len(pairsOfRoles))]
		if a, b := m.named(names[pair[0]]), m.named(names[pair[1]]); a != "" && b != "" && a != b && !merge(to, pair[0], a, b) {
			merge(to, pair[1], b, a)
		}
	}
	if m.rank%4 == 0 {
		// The whole account of the workload itself, and not only its name.
		if accounts := namedAccounts(policies); len(accounts) > 0 {
			of, in := choice.Pick(m.Chooser, accounts...), c.Inbounds[m.inbound].Workload
			merge(to, ofAccount, of[1], in.Name)
			merge(to, ofAccountNamespace, of[0], in.Namespace)
		}
	}
	for _, n := range []uint64{m.rank, m.rank/2*5 + 7} {
		m.nameForm(to, names, formsOfNames[n%uint64(len(formsOfNames))])
	}
}

// nameForm gives a name of the role of the form a name in that form.
func (m *relation) nameForm(to renaming.Names, names map[role][]string, form formOfName) {
	if name := m.named(names[form.role]); name != "" && !to.Stays(name) {
		replace(to, form.role, name, form.make(m.Chooser, to.New(m.named(names[ofOwnNamespace])), to.New(name)))
	}
}

// named chooses one of the names that is not empty, and returns "" for none.
func (m *relation) named(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" || name == "*" })
	if len(names) == 0 {
		return ""
	}
	return choice.Pick(m.Chooser, names...)
}

// merge gives a name of the role the new name of another one. It reports whether the new name may be one of the
// role.
func merge(to renaming.Names, of role, name, with string) bool {
	if name == "" || with == "" || to.Stays(name) {
		return false
	}
	fresh := to.New(with)
	if td := to.NewDomain(with); td != "" {
		fresh = td
	}
	return replace(to, of, name, fresh)
}

// replace replaces a whole name, where the new name may be one of the role.
func replace(to renaming.Names, of role, name, fresh string) bool {
	switch of {
	case ofTrustDomain:
		if _, err := spiffeid.TrustDomainFromString(fresh); err != nil {
			return false
		}
		if to.NewDomain(name) != "" {
			to.ReplaceDomain(name, fresh)
			return true
		}
	case ofLabel:
		if len(validation.IsValidLabelValue(fresh)) > 0 {
			return false
		}
	case ofLabelKey:
		if len(validation.IsQualifiedName(fresh)) > 0 || strings.Contains(name, "/") {
			return false
		}
	case ofInbound:
		if to.AreShort() && len(validation.IsValidPortName(fresh)) > 0 || len(validation.IsDNS1123Label(fresh)) > 0 {
			return false
		}
	case ofPolicy, ofWorkload, ofAccount:
		if len(validation.IsDNS1123Subdomain(fresh)) > 0 {
			return false
		}
	default:
		if len(validation.IsDNS1123Label(fresh)) > 0 {
			return false
		}
	}
	to.Replace(name, fresh)
	return true
}
