package relation

import (
	"maps"
	"net/netip"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

const (
	podNamespace  = "io.kubernetes.pod.namespace"
	podAccount    = "io.cilium.k8s.policy.serviceaccount"
	kumaNamespace = "k8s.kuma.io/namespace"
	kumaAccount   = "k8s.kuma.io/service-account"
)

// peersBeside has selectors of Cilium ask for a namespace by an expression, or for a service account, beside the labels that they
// ask for. The set gets workloads that have all of it, and workloads that lack one part.
func (m *relation) peersBeside(c *cases.Case, policies []any, account bool) {
	own := c.Inbounds[m.inbound].Workload.Namespace
	source := func() string { return choice.Pick(m.Chooser, "", "k8s:", "any:") }
	for i, selector := range tree.Objects(policies)["fromEndpoints"] {
		labels, _ := selector["matchLabels"].(map[string]any)
		known := strings.Join(append(tree.Keys(labels), keysOfExpressions(selector)...), " ")
		if i > 2 || strings.Contains(known, "cilium") || strings.Contains(known, podNamespace) || strings.Contains(known, "reserved:") || account && len(labels) == 0 {
			continue
		}
		named, other, name := m.Letters(5), m.Letters(6), m.Letters(6)
		if account {
			if labels[source()+podAccount] = name; m.OneIn(2) {
				labels[source()+podNamespace] = named
			}
		} else {
			expression := map[string]any{"key": source() + podNamespace, "operator": choice.Pick(m.Chooser, "Exists", "In", "In", "NotIn")}
			switch expression["operator"] {
			case "In":
				expression["values"] = choice.Pick(m.Chooser, []any{named}, []any{named, other}, []any{named, own})
			case "NotIn":
				expression["values"] = choice.Pick(m.Chooser, []any{other}, []any{other, m.Letters(4)}, []any{own})
			}
			expressions, _ := selector["matchExpressions"].([]any)
			selector["matchExpressions"] = append(expressions[:len(expressions):len(expressions)], expression)
		}
		asked := map[string]string{}
		for key, value := range labels {
			key = withoutSource(key)
			if text, ok := value.(string); ok && !strings.HasPrefix(key, "io.") {
				asked[key] = text
			}
		}
		for _, namespace := range []string{named, other, own} {
			// Each account has one workload here: it has the labels, or others.
			m.addPeer(c, namespace, name, choice.Pick(m.Chooser, asked, asked, map[string]string{"app": m.Letters(4)}))
			m.addPeer(c, namespace, m.Letters(7), map[string]string{"app": m.Letters(4)})
		}
		m.addPeer(c, named, m.Letters(7), asked)
		m.addPeer(c, own, m.Letters(7), asked)
	}
}

func keysOfExpressions(selector map[string]any) (out []string) {
	expressions, _ := selector["matchExpressions"].([]any)
	for _, e := range expressions {
		if of, ok := e.(map[string]any); ok {
			if key, ok := of["key"].(string); ok {
				out = append(out, key)
			}
		}
	}
	return out
}

// addPeer adds a workload that only calls, unless another one has its service account.
func (m *relation) addPeer(c *cases.Case, namespace, account string, labels map[string]string) {
	in := c.Inbounds[m.inbound]
	w := policy.Workload{Name: account, Namespace: namespace, Mesh: in.Workload.Mesh, Zone: in.Workload.Zone, Origin: in.Workload.Origin, ServiceAccount: account, Labels: labels}
	id := renaming.IdentityOf(in.Identity.TrustDomain(), w)
	for _, p := range c.Options.Peers {
		if p.Identity == id {
			return
		}
	}
	c.Options.Peers = append(c.Options.Peers, language.Peer{Workload: w, Identity: id, IP: m.Address()})
}

// sourcesOfLabels writes the source of labels in front of their keys, in selectors of Cilium.
func (m *relation) sourcesOfLabels(policies []any) {
	by := tree.Objects(policies)
	for _, key := range []string{"endpointSelector", "fromEndpoints"} {
		for _, selector := range by[key] {
			source := choice.Pick(m.Chooser, "k8s:", "k8s:", "any:")
			if labels, ok := selector["matchLabels"].(map[string]any); ok {
				written := map[string]any{}
				for key, value := range labels {
					if !strings.Contains(key, ":") {
						key = source + key
					}
					written[key] = value
				}
				selector["matchLabels"] = written
			}
			expressions, _ := selector["matchExpressions"].([]any)
			for _, e := range expressions {
				if of, ok := e.(map[string]any); ok {
					if key, _ := of["key"].(string); key != "" && !strings.Contains(key, ":") {
						of["key"] = source + key
					}
				}
			}
		}
	}
}

// exceptions adds rules about blocks from which several smaller blocks are taken, of both families.
func (m *relation) exceptions(policies []any) {
	of := choice.Pick(m.Chooser, "ingress", "ingressDeny")
	for _, spec := range tree.Objects(policies)["spec"] {
		if spec["endpointSelector"] == nil {
			continue
		}
		rules, _ := spec[of].([]any)
		for range m.Number(1, 2) {
			rules = append(rules[:len(rules):len(rules)], map[string]any{"fromCIDRSet": []any{m.blockWithout(m.Number(2, 5))}})
		}
		spec[of] = rules
	}
}

// blockWithout draws a block without so many smaller blocks of it.
func (m *relation) blockWithout(exceptions int) map[string]any {
	block := netip.MustParsePrefix(choice.Pick(m.Chooser, "0.0.0.0/0", "0.0.0.0/0", "10.0.0.0/8", "::/0", "::/0", "2001:db8::/32"))
	var except []any
	for range exceptions {
		except = append(except, m.blockWithin(block.String()))
	}
	return map[string]any{"cidr": block.String(), "except": except}
}

// blockWithin draws a smaller block of one, or the same of what is a single address.
func (m *relation) blockWithin(cidr string) string {
	block, err := netip.ParsePrefix(cidr)
	if err != nil {
		return cidr
	}
	block = block.Masked()
	bytes := block.Addr().AsSlice()
	bits := min(block.Bits()+m.Number(3, 20), 8*len(bytes))
	for bit := block.Bits(); bit < bits; bit++ {
		bytes[bit/8] |= byte(m.Choose(2)) << (7 - bit%8)
	}
	addr, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(addr, bits).String()
}

// kubernetesTags has policies of Kuma's first design name clients and inbounds by tags that Kubernetes gives them, whose keys have a prefix and a slash.
func (m *relation) kubernetesTags(c *cases.Case, policies []any) {
	in := &c.Inbounds[m.inbound]
	keys := []string{kumaNamespace, kumaNamespace, "k8s.kuma.io/service-name", "app.kubernetes.io/name", m.Letters(4) + ".example/" + m.Letters(4)}
	key, own, other := choice.Pick(m.Chooser, keys...), m.Letters(5), m.Letters(6)
	if in.Tags == nil {
		in.Tags = map[string]string{}
		maps.Copy(in.Tags, in.Workload.Labels)
	}
	beside := tree.Keys(in.Tags)
	in.Tags[key] = own
	by := tree.Objects(policies)
	for _, item := range by["from"] {
		ref, _ := item["targetRef"].(map[string]any)
		kinds := map[any]string{"Mesh": "MeshSubset", "MeshService": "MeshServiceSubset", "MeshSubset": "MeshSubset", "MeshServiceSubset": "MeshServiceSubset"}
		kind := kinds[ref["kind"]]
		if kind == "" || m.OneIn(3) {
			continue
		}
		tags, _ := ref["tags"].(map[string]any)
		if tags == nil {
			tags = map[string]any{}
		}
		tags[key] = choice.Pick(m.Chooser, own, other)
		ref["kind"], ref["tags"] = kind, tags
	}
	for _, spec := range by["spec"] {
		ref, _ := spec["targetRef"].(map[string]any)
		if spec["from"] == nil || m.OneIn(3) || ref != nil && ref["kind"] != "Mesh" && ref["kind"] != "MeshSubset" {
			continue
		}
		tags, _ := ref["tags"].(map[string]any)
		if tags == nil {
			tags = map[string]any{}
		}
		if tags[key] = choice.Pick(m.Chooser, own, other); len(beside) > 0 && m.OneIn(2) {
			with := choice.Pick(m.Chooser, beside...)
			tags[with] = in.Tags[with]
		}
		spec["targetRef"] = map[string]any{"kind": "MeshSubset", "tags": tags}
	}
}

// kubernetesLabels has policies of Kuma select by the labels that Kubernetes gives a Dataplane: its namespace alone, and with
// its service account.
func (m *relation) kubernetesLabels(c *cases.Case, policies []any) {
	namespace, account, other := m.Letters(5), m.Letters(6), m.Letters(4)
	if c.Inbounds[m.inbound].Workload.Labels == nil {
		return
	}
	m.relabel(c, func(labels map[string]string) { labels[kumaNamespace], labels[kumaAccount] = namespace, account })
	for _, spec := range tree.Objects(policies)["spec"] {
		ref, _ := spec["targetRef"].(map[string]any)
		if ref["kind"] != "Dataplane" && ref["kind"] != "Mesh" && ref["kind"] != nil || ref["name"] != nil || spec["from"] != nil || m.OneIn(3) {
			continue
		}
		labels := map[string]any{kumaNamespace: choice.Pick(m.Chooser, namespace, other)}
		if m.OneIn(2) {
			labels[kumaAccount] = choice.Pick(m.Chooser, account, account, other)
		}
		to := map[string]any{"kind": "Dataplane", "labels": labels}
		if section := ref["sectionName"]; section != nil {
			to["sectionName"] = section
		}
		spec["targetRef"] = to
	}
}
