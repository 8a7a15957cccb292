package matrix

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// relations are what values of a question may have to do with each other. A compiler that is wrong where one
// of them holds is right for each name, each port and each field by itself.
var relations = map[feature.Profile]map[string]is{
	"": {
		"a workload with the name of its namespace": func(q question) bool { return ownWorkload(q).Name == ownWorkload(q).Namespace },
		"a policy with the name of the workload":    nameOf(func(q question) string { return ownWorkload(q).Name }),
		"a policy with the name of the namespace":   nameOf(func(q question) string { return ownWorkload(q).Namespace }),
		"a policy with the name of the inbound":     nameOf(func(q question) string { return q.Inbound.Name }),
		"an inbound with the name of the namespace": func(q question) bool { return q.Inbound.Name == ownWorkload(q).Namespace },
		"a label with its key as its value":         label(func(_ question, key, value string) bool { return key == value }),
		"a label with the name of the workload":     label(func(q question, key, _ string) bool { return key == ownWorkload(q).Name }),
		"a label with the name of the namespace":    label(func(q question, key, _ string) bool { return key == ownWorkload(q).Namespace }),
		"a label with the name of a policy":         label(func(q question, _, value string) bool { return nameOf(func(question) string { return value })(q) }),
		"the trust domain is the namespace":         func(q question) bool { return q.Options["trustDomain"] == ownWorkload(q).Namespace },
		"the trust domain is the workload":          func(q question) bool { return q.Options["trustDomain"] == ownWorkload(q).Name },
		"the zone is the namespace":                 func(q question) bool { return ownWorkload(q).Zone == ownWorkload(q).Namespace },
		"a namespace that begins with the name": func(q question) bool {
			return ownWorkload(q).Name != ownWorkload(q).Namespace && strings.HasPrefix(ownWorkload(q).Namespace, ownWorkload(q).Name)
		},
		"a name that begins with the namespace": func(q question) bool {
			return ownWorkload(q).Name != ownWorkload(q).Namespace && strings.HasPrefix(ownWorkload(q).Name, ownWorkload(q).Namespace)
		},
		"a name of 63 characters":              func(q question) bool { return len(ownWorkload(q).Name) == 63 },
		"a namespace of 63 characters":         func(q question) bool { return len(ownWorkload(q).Namespace) == 63 },
		"a name of digits":                     func(q question) bool { return strings.Trim(ownWorkload(q).Name, "0123456789") == "" },
		"a name with a dot":                    func(q question) bool { return strings.Contains(ownWorkload(q).Name, ".") },
		"a name with two dashes":               func(q question) bool { return strings.Contains(ownWorkload(q).Name, "--") },
		"a policy with a name of 250":          named(`^.{250}`),
		"two policies that say the same":       func(q question) bool { return saySame(q, func(p map[string]any) any { return p["spec"] }) },
		"two policies of one name":             func(q question) bool { return saySame(q, func(p map[string]any) any { return metadata(p)["name"] }) },
		"three policies in the order of names": func(q question) bool { return len(q.Policies) > 2 && slices.IsSorted(namesOf(q)) },
		"three policies against their order":   func(q question) bool { n := namesOf(q); slices.Reverse(n); return len(n) > 2 && slices.IsSorted(n) },
		"6 to 9 policies":                      func(q question) bool { return len(q.Policies) > 5 && len(q.Policies) < 10 },
		"10 to 40 policies":                    func(q question) bool { return len(q.Policies) > 9 && len(q.Policies) <= 40 },
		"other peers than the workload":        func(q question) bool { return len(q.Peers) > 0 && !peers(isOwn)(q) },
		"an own account of another name": peers(func(q question, p peer) bool {
			return isOwn(q, p) && !strings.HasSuffix(p.Identity, "/"+p.Workload.Name)
		}),
		"a peer of the same name elsewhere": peers(func(q question, p peer) bool {
			return p.Workload.Name == ownWorkload(q).Name && p.Workload.Namespace != ownWorkload(q).Namespace
		}),
		"a peer with the account of another": func(q question) bool { return repeated(identities(q)) },
		"a peer with the same labels": peers(func(q question, p peer) bool {
			return p.Workload.Name != ownWorkload(q).Name && len(ownWorkload(q).Labels) > 0 && reflect.DeepEqual(p.Workload.Labels, ownWorkload(q).Labels)
		}),
		"an item that is there twice":    inSpecs(func(_ question, _ string, v any) bool { items, ok := v.([]any); return ok && repeated(textsOf(items)) }),
		"a rule that names the workload": inSpecs(func(q question, _ string, v any) bool { return v == ownWorkload(q).Name }),
	},
	feature.GEP3779: {
		"the workload's own account": account(func(q question, _ map[string]any, namespace, name string) bool {
			return name == ownWorkload(q).Name && namespace == ownWorkload(q).Namespace
		}),
		"an account of the workload's name":  account(func(q question, _ map[string]any, _, name string) bool { return name == ownWorkload(q).Name }),
		"an account of its namespace's name": account(func(_ question, _ map[string]any, namespace, name string) bool { return name == namespace }),
		"an account of the policy's name":    account(func(_ question, m map[string]any, _, name string) bool { return name == m["name"] }),
		"the account default":                account(func(_ question, _ map[string]any, _, name string) bool { return name == "default" }),
		"a namespace that is stated": account(func(q question, m map[string]any, namespace, _ string) bool {
			return m["stated"] == true && namespace == ownWorkload(q).Namespace
		}),
		"the workload's own identity": inSpecs(func(q question, key string, v any) bool { return key == "spiffe" && v == ownIdentity(q) }),
		"two expressions about one label": inSpecs(func(_ question, key string, v any) bool {
			items, ok := v.([]any)
			return ok && key == "matchExpressions" && repeated(fieldsOf(items, "key"))
		}),
		"its own port among others": inSpecs(func(q question, key string, v any) bool {
			items, ok := v.([]any)
			return ok && key == "ports" && len(items) > 1 && slices.Contains(textsOf(items), fmt.Sprint(q.Inbound.Port))
		}),
		"three ports in a row that end in front of its own": inSpecs(func(q question, key string, v any) bool {
			items, ok := v.([]any)
			texts := textsOf(items)
			has := func(less int) bool { return slices.Contains(texts, fmt.Sprint(int(q.Inbound.Port)-less)) }
			return ok && key == "ports" && has(3) && has(2) && has(1) && !has(0)
		}),
		"a port with one more digit": inSpecs(func(q question, key string, v any) bool {
			return key == "ports" && fmt.Sprint(v) == fmt.Sprintf("%d0", q.Inbound.Port)
		}),
	},
	feature.KumaMTP: {
		"the workload's own identity":              inSpecs(func(q question, key string, v any) bool { return key == "value" && v == ownIdentity(q) }),
		"the system's namespace is the workload's": func(q question) bool { return q.Options["systemNamespace"] == ownWorkload(q).Namespace },
		"a caller in deny and in allow":            inBoth("deny", "allow", "spiffeId", "spiffeID"),
		"a path in deny and in allow":              inBoth("deny", "allow", "path"),
		"a caller in a shadow and in allow":        inBoth("allowWithShadowDeny", "allow", "spiffeId", "spiffeID"),
	},
	feature.IstioAuthz: {
		"ports that are asked for and not":      contradictory("ports"),
		"methods that are asked for and not":    contradictory("methods"),
		"paths that are asked for and not":      contradictory("paths"),
		"principals that are asked for and not": contradictory("principals"),
		"blocks beside service accounts":        hasBoth("source", "serviceAccounts", "ipBlocks"),
		"blocks of both addresses":              hasBoth("source", "remoteIpBlocks", "ipBlocks"),
		"a condition on the own principal": inSpecs(func(q question, key string, v any) bool {
			of, _ := v.(map[string]any)
			values, _ := of["values"].([]any)
			return of["key"] == "source.principal" && slices.Contains(textsOf(values), strings.TrimPrefix(ownIdentity(q), "spiffe://"))
		}),
		"the root namespace is the workload's": func(q question) bool { return optionOf(q, "istio", "rootNamespace") == ownWorkload(q).Namespace },
		"several aliases of the trust domain": func(q question) bool {
			aliases, _ := optionOf(q, "istio", "trustDomainAliases").([]any)
			return len(aliases) > 1
		},
	},
	feature.CiliumIngress: {
		"a deny of what is allowed": inSpecs(func(_ question, _ string, v any) bool {
			of, _ := v.(map[string]any)
			return of["ingress"] != nil && reflect.DeepEqual(of["ingress"], of["ingressDeny"])
		}),
	},
	feature.LinkerdAuthz: {
		"the namespace of the control plane is the workload's": func(q question) bool {
			return optionOf(q, "linkerd", "controlPlaneNamespace") == ownWorkload(q).Namespace
		},
	},
}

func ownWorkload(q question) asked { return q.Inbound.Workload }

func isOwn(q question, p peer) bool {
	return p.Workload.Name == ownWorkload(q).Name && p.Workload.Namespace == ownWorkload(q).Namespace
}

func ownIdentity(q question) string {
	if i := slices.IndexFunc(q.Peers, func(p peer) bool { return isOwn(q, p) }); i >= 0 {
		return q.Peers[i].Identity
	}
	return ""
}

func identities(q question) (out []string) {
	for _, p := range q.Peers {
		out = append(out, p.Identity)
	}
	return out
}

func metadata(p map[string]any) map[string]any {
	if m, ok := p["metadata"].(map[string]any); ok {
		return m
	}
	return p
}

func namesOf(q question) (out []string) {
	for _, p := range q.Policies {
		out = append(out, fmt.Sprint(metadata(p)["name"]))
	}
	return out
}

func nameOf(of func(question) string) is {
	return func(q question) bool { return slices.Contains(namesOf(q), of(q)) }
}

func label(holds func(q question, key, value string) bool) is {
	return func(q question) bool {
		for key, value := range ownWorkload(q).Labels {
			if holds(q, key, value) {
				return true
			}
		}
		return false
	}
}

// saySame reports whether two policies have the same of something.
func saySame(q question, of func(map[string]any) any) bool {
	for i, p := range q.Policies[:min(len(q.Policies), 60)] {
		if slices.ContainsFunc(q.Policies[:i], func(o map[string]any) bool { return of(p) != nil && reflect.DeepEqual(of(p), of(o)) }) {
			return true
		}
	}
	return false
}

func textsOf(items []any) (out []string) {
	for _, item := range items {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

func fieldsOf(items []any, field string) (out []string) {
	for _, item := range items {
		if of, ok := item.(map[string]any); ok && of[field] != nil {
			out = append(out, fmt.Sprint(of[field]))
		}
	}
	return out
}

func repeated(texts []string) bool {
	known := map[string]bool{}
	return slices.ContainsFunc(texts, func(text string) bool { was := known[text]; known[text] = true; return was })
}

// inSpecs finds a value of a policy by the key under which it stands.
func inSpecs(holds func(q question, key string, v any) bool) is {
	var in func(q question, key string, v any) bool
	in = func(q question, key string, v any) bool {
		if holds(q, key, v) {
			return true
		}
		switch v := v.(type) {
		case []any:
			return slices.ContainsFunc(v, func(item any) bool { return in(q, key, item) })
		case map[string]any:
			for inner := range v {
				if in(q, inner, v[inner]) {
					return true
				}
			}
		}
		return false
	}
	return func(q question) bool {
		return slices.ContainsFunc(q.Policies, func(p map[string]any) bool { return in(q, "", p["spec"]) || in(q, "", p["specs"]) })
	}
}

// account finds a service account by its namespace and its name. The metadata of its policy say whether the namespace
// is stated.
func account(holds func(q question, m map[string]any, namespace, name string) bool) is {
	return func(q question) bool {
		return slices.ContainsFunc(q.Policies, func(p map[string]any) bool {
			m := maps.Clone(metadata(p))
			return inSpecs(func(q question, key string, v any) bool {
				of, ok := v.(map[string]any)
				if !ok || key != "serviceAccount" {
					return false
				}
				namespace := of["namespace"]
				if m["stated"] = namespace != nil; namespace == nil {
					namespace = m["namespace"]
				}
				return holds(q, m, fmt.Sprint(namespace), fmt.Sprint(of["name"]))
			})(question{Inbound: q.Inbound, Policies: []map[string]any{p}})
		})
	}
}

// inBoth finds a matcher that stands in two lists of Kuma.
func inBoth(one, other string, fields ...string) is {
	of := func(q question, list string) map[string]bool {
		out := map[string]bool{}
		inSpecs(func(_ question, key string, v any) bool {
			if matcher, ok := v.(map[string]any); ok && key == list {
				for _, field := range fields {
					if matcher[field] != nil {
						out[fmt.Sprint(matcher[field])] = true
					}
				}
			}
			return false
		})(q)
		return out
	}
	return func(q question) bool {
		b := of(q, other)
		for text := range of(q, one) {
			if b[text] {
				return true
			}
		}
		return false
	}
}

// optionOf returns an option of a dialect.
func optionOf(q question, dialect, key string) any {
	of, _ := q.Options[dialect].(map[string]any)
	return of[key]
}

// hasBoth finds an object that has two fields.
func hasBoth(of, one, other string) is {
	return inSpecs(func(_ question, key string, v any) bool {
		fields, _ := v.(map[string]any)
		return key == of && fields[one] != nil && fields[other] != nil
	})
}

// contradictory finds a field of Istio that excludes what it asks for.
func contradictory(field string) is {
	not := "not" + strings.ToUpper(field[:1]) + field[1:]
	return inSpecs(func(_ question, _ string, v any) bool {
		of, _ := v.(map[string]any)
		asked, _ := of[field].([]any)
		excluded, _ := of[not].([]any)
		return slices.ContainsFunc(asked, func(item any) bool { return slices.Contains(excluded, item) })
	})
}

// closed reports whether the policies keep a caller out: a compiler that is open there is wrong.
func closed(in verdict.Inbound) bool {
	stranger := policy.Request{URIs: []string{"spiffe://nobody.example/nobody"}, Path: "/nothing", Method: "GET", Port: in.Port}
	return in.Decide(stranger).Effect == policy.Deny ||
		slices.ContainsFunc(classes.Cut(in.Surface(), in.Program.Program).Classes, func(c classes.Class) bool {
			return !verdict.Nameless(c.Witness) && in.Decide(c.Witness).Effect == policy.Deny
		})
}

// Each relation holds for a question of a run whose policies keep somebody out, so that a compiler that is open
// where it holds is found. A second run is made where the first one lacks a relation. With -short there is one profile.
func TestRelatedSetsHaveEachRelation(t *testing.T) {
	t.Parallel()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	const runs = 4
	profiles := []feature.Profile{feature.GEP3779, feature.KumaMTP, feature.IstioAuthz, feature.LinkerdAuthz, feature.CiliumIngress}
	if testing.Short() {
		profiles = profiles[:1]
	}
	for _, profile := range profiles {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			s := Suite{Selection: Selection{Profiles: []feature.Profile{profile}}, Cases: stories}
			covered, err := s.covered()
			if err != nil {
				t.Fatal(err)
			}
			all := maps.Clone(relations[""])
			maps.Copy(all, relations[profile])
			// The resources of Kuma's universal form are those of no cluster.
			if profile != feature.KumaMTP {
				maps.Copy(all, clusters)
			}
			maps.Copy(all, injectorLabels[profile])
			maps.Copy(all, rareForms[""])
			maps.Copy(all, rareForms[profile])
			maps.Copy(all, jointKeys[""])
			maps.Copy(all, jointKeys[profile])
			maps.Copy(all, ordinaryForms[profile])
			found := map[string]bool{}
			for s.Seed = 0; s.Seed < runs && len(found) < len(all); s.Seed++ {
				source := newSource(s, covered, s.freshForms(covered))
				made := 0
				for number := range uint64(relatedSets) {
					c, _, ok := source.paper(firstRelated + number)
					if !ok {
						continue
					}
					made++
					reading, err := verdict.Read(c)
					if err != nil {
						t.Fatalf("set %d: %v", number, err)
					}
					inbounds := reading.Inbounds()
					for i, q := range questionsOf(t, c) {
						if !closed(inbounds[i]) {
							continue
						}
						for name, is := range all {
							if !found[name] && is(q) {
								found[name] = true
							}
						}
					}
				}
				if made < relatedSets*4/5 {
					t.Errorf("seed %d: %d of %d sets are made", s.Seed, made, relatedSets)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(all)) {
				if !found[name] {
					t.Errorf("%s: none of %d runs has a set with it that keeps somebody out", name, runs)
				}
			}
		})
	}
}
