package update

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/policy"
)

// digit changes one digit in a spec: of a port, a block, an address, or a text.
func (u *update) digit(*cases.Case) bool { return u.one(u.changesOf(u.otherNumber)) }

// otherNumber returns a value of which one digit is another one, false where it has none.
func (u *update) otherNumber(_ string, v any) (any, bool) {
	switch v := v.(type) {
	case float64:
		text, ok := u.otherDigit(strconv.FormatFloat(v, 'f', -1, 64))
		if !ok {
			return v, false
		}
		out, err := strconv.ParseFloat(text, 64)
		return out, err == nil
	case string:
		return u.otherDigit(v)
	default:
		return v, false
	}
}

func (u *update) otherDigit(text string) (string, bool) {
	var at []int
	for i := range text {
		if text[i] >= '0' && text[i] <= '9' {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return text, false
	}
	i := choice.Pick(u.Chooser, at...)
	return text[:i] + fmt.Sprint((int(text[i]-'0')+u.Number(1, 9))%10) + text[i+1:], true
}

// alternatives are words that a field of a spec chooses from, each with the others of its kind.
var alternatives = [][]string{
	{"ALLOW", "DENY"}, {"STRICT", "PERMISSIVE", "DISABLE"}, {"In", "NotIn"}, {"Exists", "DoesNotExist"}, {"Exact", "Prefix"}, {"Exact", "PathPrefix", "RegularExpression"},
	{"TCP", "UDP", "ANY", "SCTP"}, {"HTTP/1", "HTTP/2", "gRPC", "opaque"}, {"all", "cluster", "world", "host", "remote-node"}, {"Network", "Application"},
	{"Allow", "Deny", "AllowWithShadowDeny"}, {"deny", "all-unauthenticated", "all-authenticated", "cluster-authenticated"},
	{"GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"},
}

// fieldsAgainst are fields that mean the opposite of each other, or something else, and take the same value.
var fieldsAgainst = map[string]string{
	"ingress": "ingressDeny", "ingressDeny": "ingress", "allow": "deny", "deny": "allow", "ipBlocks": "remoteIpBlocks", "remoteIpBlocks": "ipBlocks",
}

// choice changes in a spec what has few values: a word, a truth, or whether a field asks for something or excludes it.
func (u *update) choice(*cases.Case) bool {
	changes := u.changesOf(func(_ string, v any) (any, bool) {
		switch v := v.(type) {
		case bool:
			return !v, true
		case string:
			for _, of := range choice.Shuffled(u.Chooser, alternatives) {
				if slices.Contains(of, v) {
					return choice.Pick(u.Chooser, slices.DeleteFunc(slices.Clone(of), func(word string) bool { return word == v })...), true
				}
			}
		}
		return v, false
	})
	for _, p := range u.policies {
		tree.Visit("", tree.Specs(p), func(_ string, v any) {
			fields, _ := v.(map[string]any)
			for _, field := range tree.Keys(fields) {
				if other := oppositeOf(field); other != "" && fields[other] == nil {
					changes = append(changes, func() { fields[other] = fields[field]; delete(fields, field) })
				}
			}
		})
	}
	return u.one(changes)
}

// oppositeOf returns the field that means the opposite of another one, "" for none.
func oppositeOf(field string) string {
	if other := fieldsAgainst[field]; other != "" {
		return other
	}
	not, ok := strings.CutPrefix(field, "not")
	if ok && not != "" {
		if plain := strings.ToLower(not[:1]) + not[1:]; slices.Contains(tree.Opposed, plain) {
			return plain
		}
	}
	if slices.Contains(tree.Opposed, field) {
		return "not" + strings.ToUpper(field[:1]) + field[1:]
	}
	return ""
}

// changesOf returns what changes one value of a spec each, for those of which the function makes another one.
func (u *update) changesOf(other func(key string, v any) (any, bool)) (changes []func()) {
	var in func(key string, v any, set func(any))
	in = func(key string, v any, set func(any)) {
		if changed, ok := other(key, v); ok {
			changes = append(changes, func() { set(changed) })
		}
		switch v := v.(type) {
		case []any:
			for i := range v {
				in(key, v[i], func(item any) { v[i] = item })
			}
		case map[string]any:
			for _, inner := range tree.Keys(v) {
				in(inner, v[inner], func(value any) { v[inner] = value })
			}
		}
	}
	for _, p := range u.policies {
		of, _ := p.(map[string]any)
		for _, key := range []string{"spec", "specs"} {
			in(key, of[key], func(v any) { of[key] = v })
		}
	}
	return changes
}

// inbound changes the port or the protocol of an inbound, whose name stays.
func (u *update) inbound(c *cases.Case) bool {
	in := &c.Inbounds[u.Choose(len(c.Inbounds))]
	if in.Name == "" {
		return false // it is named by its port
	}
	if u.OneIn(4) {
		in.Protocol = choice.Pick(u.Chooser, slices.DeleteFunc([]policy.Protocol{policy.TCP, policy.HTTP, policy.HTTP2, policy.GRPC}, func(p policy.Protocol) bool { return p == in.Protocol })...)
		return true
	}
	taken := func(port uint16) bool {
		return slices.ContainsFunc(c.Inbounds, func(other cases.Inbound) bool { return other.Workload.Name == in.Workload.Name && other.Port == port })
	}
	// A policy that names another port is about this inbound now, or the one that named its port is no more.
	ports := []uint16{in.Port + 1}
	u.changesOf(func(key string, v any) (any, bool) {
		if n, err := strconv.ParseUint(fmt.Sprint(v), 10, 16); err == nil && n > 0 && strings.HasSuffix(strings.ToLower(key), "port") || key == "ports" && err == nil && n > 0 {
			ports = append(ports, uint16(n))
		}
		return v, false
	})
	if ports = slices.DeleteFunc(ports, func(port uint16) bool { return port == 0 || taken(port) }); len(ports) == 0 {
		return false
	}
	in.Port = choice.Pick(u.Chooser, ports...)
	return true
}

// metadata changes what the metadata of a policy say of its age, its order or its owner: a label, an annotation or a time.
func (u *update) metadata(*cases.Case) bool {
	var changes []func()
	for _, p := range u.policies {
		of := tree.Metadata(p)
		for _, key := range []string{"labels", "annotations"} {
			fields, _ := of[key].(map[string]any)
			for _, field := range tree.Keys(fields) {
				changes = append(changes, func() { delete(fields, field) })
			}
		}
		if role, ok := of["labels"].(map[string]any); ok && role["kuma.io/policy-role"] != nil {
			roles := []string{"system", "producer", "consumer", "workload-owner"}
			changes = append(changes, func() { role["kuma.io/policy-role"] = choice.Pick(u.Chooser, roles...) })
		}
		if of["creationTimestamp"] != nil {
			changes = append(changes, func() {
				of["creationTimestamp"] = choice.Pick(u.Chooser, "2015-01-02T03:04:05Z", "2037-01-02T03:04:05Z")
			})
		}
	}
	return u.one(changes)
}

// place moves a workload to another namespace, mesh or zone: one that a policy names, or one that no policy does. Its name, its labels and its
// certificate stay, as those of one application in two namespaces do.
func (u *update) place(c *cases.Case) bool {
	moved := c.Inbounds[u.Choose(len(c.Inbounds))].Workload
	named := map[string][]string{}
	for _, p := range u.policies {
		of := tree.Metadata(p)
		labels, _ := of["labels"].(map[string]any)
		for _, key := range []string{"namespace", "mesh"} {
			for _, place := range []any{of[key], labels["k8s.kuma.io/"+key], labels["kuma.io/"+key]} {
				if text, ok := place.(string); ok {
					named[key] = append(named[key], text)
				}
			}
		}
		if zone, ok := labels["kuma.io/zone"].(string); ok {
			named["zone"] = append(named["zone"], zone)
		}
	}
	var changes []func()
	for _, of := range []struct {
		key   string
		field func(*policy.Workload) *string
	}{
		{"namespace", func(w *policy.Workload) *string { return &w.Namespace }},
		{"mesh", func(w *policy.Workload) *string { return &w.Mesh }},
		{"zone", func(w *policy.Workload) *string { return &w.Zone }},
	} {
		field, was, places := of.field, *of.field(&moved), named[of.key]
		if other, ok := u.other(was); ok {
			places = append(places, other)
		}
		for _, place := range places {
			if place == was || was == "" {
				continue
			}
			changes = append(changes, func() {
				for i := range c.Inbounds {
					if c.Inbounds[i].Workload.Name == moved.Name {
						*field(&c.Inbounds[i].Workload) = place
					}
				}
				for i := range c.Options.Peers {
					if c.Options.Peers[i].Workload.Name == moved.Name {
						*field(&c.Options.Peers[i].Workload) = place
					}
				}
			})
		}
	}
	return u.one(changes)
}
