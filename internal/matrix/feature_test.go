package matrix

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/plugin"
)

// question is what a compiler is asked, and its text.
type question struct {
	text    string
	Inbound struct {
		Name, Protocol string
		Port           int
		Workload       asked
		Tags           map[string]string
		Routes         []any
	}
	Policies []map[string]any
	Options  map[string]any
	Peers    []peer
}

type peer struct {
	Identity, Address string
	Workload          asked
}

type asked struct {
	Name, Namespace, Mesh, Zone, Origin string
	Labels                              map[string]string
}

func questionsOf(t *testing.T, c cases.Case) []question {
	var out []question
	for _, in := range c.Inbounds {
		text, err := plugin.Question(plugin.Newest, in.Inbound, c.Policies, c.Options)
		q := question{text: string(text)}
		if err == nil {
			err = json.Unmarshal(text, &q)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

type is = func(question) bool

// has finds a regular expression in the text.
func has(pattern string) is {
	p := regexp.MustCompile(pattern)
	return func(q question) bool { return p.MatchString(q.text) }
}

// labels, policies and peers hold where one of them does.
func labels(holds func(value string) bool) is {
	return func(q question) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(q.Inbound.Workload.Labels)), holds)
	}
}

func policies(holds func(metadata, p map[string]any) bool) is {
	return func(q question) bool {
		return slices.ContainsFunc(q.Policies, func(p map[string]any) bool {
			metadata, ok := p["metadata"].(map[string]any)
			if !ok {
				metadata = p
			}
			return holds(metadata, p)
		})
	}
}

func peers(holds func(q question, p peer) bool) is {
	return func(q question) bool { return slices.ContainsFunc(q.Peers, func(p peer) bool { return holds(q, p) }) }
}

func named(pattern string) is {
	p := regexp.MustCompile(pattern)
	return policies(func(metadata, _ map[string]any) bool {
		name, _ := metadata["name"].(string)
		return p.MatchString(name)
	})
}

// listOf finds a list of at least so many items.
func listOf(key string, least int) is {
	var in func(v any) bool
	in = func(v any) bool {
		switch v := v.(type) {
		case []any:
			return slices.ContainsFunc(v, in)
		case map[string]any:
			for inner, value := range v {
				if items, ok := value.([]any); ok && inner == key && len(items) >= least || in(value) {
					return true
				}
			}
		}
		return false
	}
	return policies(func(_, p map[string]any) bool { return in(p) })
}

// features are what a compiler could tell a question by. A compiler that is wrong where one of
// them is there gets by where no set has it, and so does a compiler that is right only there.
var features = map[feature.Profile]map[string]is{
	"": {
		"a low port":                  func(q question) bool { return q.Inbound.Port < 1024 },
		"a port of the middle":        func(q question) bool { return q.Inbound.Port >= 10_000 && q.Inbound.Port < 30_000 },
		"an odd high port":            func(q question) bool { return q.Inbound.Port > 30_000 && q.Inbound.Port%2 == 1 },
		"http without a name":         func(q question) bool { return q.Inbound.Name == "" && q.Inbound.Protocol == "http" },
		"tcp without a name":          func(q question) bool { return q.Inbound.Name == "" && q.Inbound.Protocol == "tcp" },
		"the name of the workload":    func(q question) bool { return q.Inbound.Name == q.Inbound.Workload.Name },
		"a long name of an inbound":   func(q question) bool { return len(q.Inbound.Name) > 15 },
		"no peers":                    func(q question) bool { return len(q.Peers) == 0 },
		"20 peers":                    func(q question) bool { return len(q.Peers) >= 20 },
		"100 peers":                   func(q question) bool { return len(q.Peers) >= 100 },
		"another peer first":          func(q question) bool { return len(q.Peers) > 0 && q.Peers[0].Workload.Name != q.Inbound.Workload.Name },
		"an account of another name":  peers(func(_ question, p peer) bool { return !strings.HasSuffix(p.Identity, "/"+p.Workload.Name) }),
		"a peer of another namespace": peers(func(q question, p peer) bool { return p.Workload.Namespace != q.Inbound.Workload.Namespace }),
		"a zone":                      func(q question) bool { return q.Inbound.Workload.Zone != "" },
		"the origin global":           func(q question) bool { return q.Inbound.Workload.Origin == "global" },
		"the mesh default":            func(q question) bool { return q.Inbound.Workload.Mesh == "default" },
		"no labels":                   func(q question) bool { return len(q.Inbound.Workload.Labels) == 0 },
		"6 labels":                    func(q question) bool { return len(q.Inbound.Workload.Labels) >= 6 },
		"15 labels":                   func(q question) bool { return len(q.Inbound.Workload.Labels) >= 15 },
		"an empty label":              labels(func(v string) bool { return v == "" }),
		"the label true":              labels(func(v string) bool { return v == "true" }),
		"a long label":                labels(func(v string) bool { return len(v) > 30 }),
		"a label with capitals":       labels(func(v string) bool { return strings.ToLower(v) != v }),
		"a name that begins with 1":   func(q question) bool { return regexp.MustCompile(`^[0-9]`).MatchString(q.Inbound.Workload.Name) },
		"the name of a pod": func(q question) bool {
			return regexp.MustCompile(`-[a-z0-9]{8,10}-[a-z0-9]{5}$`).MatchString(q.Inbound.Workload.Name)
		},
		"a long namespace":             func(q question) bool { return len(q.Inbound.Workload.Namespace) > 20 },
		"the namespace default":        func(q question) bool { return q.Inbound.Workload.Namespace == "default" },
		"the namespace is the name":    func(q question) bool { return q.Inbound.Workload.Namespace == q.Inbound.Workload.Name },
		"one policy":                   func(q question) bool { return len(q.Policies) == 1 },
		"15 policies":                  func(q question) bool { return len(q.Policies) >= 15 },
		"100 policies":                 func(q question) bool { return len(q.Policies) >= 100 },
		"much text":                    func(q question) bool { return len(q.text) > 20_000 },
		"very much text":               func(q question) bool { return len(q.text) > 60_000 },
		"a status":                     policies(func(_, p map[string]any) bool { return p["status"] != nil }),
		"no UTF-8 alone":               has(`[^\x00-\x7f]`),
		"an escaped character":         has(`\\n`),
		"a long text":                  has(`"[^"\\]{200}`),
		"null":                         has(`:null`),
		"routes":                       func(q question) bool { return len(q.Inbound.Routes) > 0 },
		"tags":                         func(q question) bool { return q.Inbound.Tags != nil },
		"uid":                          has(`"uid"`),
		"a high generation":            has(`"generation":[0-9]{3}`),
		"a time of this year":          has(`"(creationTimestamp|creationTime)":"202[6-9]`),
		"deletionTimestamp":            has(`"deletionTimestamp"`),
		"generateName":                 has(`"generateName"`),
		"finalizers":                   has(`"finalizers"`),
		"an owner of another kind":     has(`"kind":"HelmRelease"`),
		"a manager of another name":    has(`"manager":"argocd-controller"`),
		"argocd":                       has(`argocd\.argoproj`),
		"6 annotations":                policies(func(m, _ map[string]any) bool { a, _ := m["annotations"].(map[string]any); return len(a) >= 6 }),
		"labels of a policy":           policies(func(m, _ map[string]any) bool { l, _ := m["labels"].(map[string]any); return len(l) > 0 }),
		"a long name of a policy":      named(`^.{31}`),
		"a policy with a dot":          named(`\.`),
		"a policy that begins with 1":  named(`^[0-9]`),
		"a policy without a namespace": policies(func(m, p map[string]any) bool { return p["metadata"] != nil && m["namespace"] == nil }),
		"the word production":          has(`production`),
		"the word kube-system":         has(`kube-system`),
	},
	feature.GEP3779: {
		"v1beta1":                   has(`"apiVersion":"gateway[^"]*/v1beta1"`),
		"v2":                        has(`"apiVersion":"gateway[^"]*/v2"`),
		"a group of a target":       has(`"group":"core"`),
		"a name of a target":        has(`"kind":"Pod","name":""`),
		"3 labels":                  has(`"matchLabels":\{("[^"]*":"[^"]*",?){3,}\}`),
		"empty labels":              has(`"matchLabels":\{\}`),
		"3 expressions":             listOf("matchExpressions", 3),
		"3 values":                  listOf("values", 3),
		"10 values":                 listOf("values", 10),
		"an empty value":            has(`"values":\[[^\]]*""`),
		"20 rules":                  listOf("rules", 20),
		"60 rules":                  listOf("rules", 60),
		"20 sources":                listOf("sources", 20),
		"100 sources":               listOf("sources", 100),
		"3 ports":                   listOf("ports", 3),
		"an account with a dot":     has(`"serviceAccount":\{"name":"[^"]*\.`),
		"a long account":            has(`"serviceAccount":\{"name":"[^"]{31}`),
		"a SPIFFE ID of 1 segment":  has(`"spiffe":"spiffe://[^"/]*/[^"/]+"`),
		"a SPIFFE ID of 5 segments": has(`"spiffe":"spiffe://[^"/]*(/[^"/]+){5}"`),
		"a SPIFFE ID of 7 segments": has(`"spiffe":"spiffe://[^"/]*(/[^"/]+){7}`),
		"a SPIFFE ID with capitals": has(`"spiffe":"spiffe://[^"/]*/[^"]*[A-Z]`),
		"a SPIFFE ID with _":        has(`"spiffe":"spiffe://[^"/]*/[^"]*_`),
		"a long SPIFFE ID":          has(`"spiffe":"spiffe://[^"]{125}`),
		"one name in two namespaces": func(q question) bool {
			seen := map[any]bool{}
			return policies(func(m, _ map[string]any) bool {
				twice := seen[m["name"]]
				seen[m["name"]] = true
				return twice
			})(q)
		},
	},
	feature.IstioAuthz: {
		"20 rules":       listOf("rules", 20),
		"20 items":       listOf("from", 20),
		"100 principals": listOf("principals", 100),
	},
	feature.KumaMTP: {
		"100 callers": func(q question) bool {
			return listOf("allow", 100)(q) || listOf("deny", 100)(q) || listOf("conditions", 100)(q)
		},
		"20 rules":                  listOf("rules", 20),
		"a method of its own":       has(`"method":"(PURGE|PROPFIND|REPORT|M-SEARCH)"`),
		"a path with %":             has(`"path":\{[^}]*%`),
		"a path with a dot":         has(`"path":\{[^}]*\.`),
		"a path with ;":             has(`"path":\{[^}]*;`),
		"a path of 6 segments":      has(`"path":\{[^}]*"value":"(/[^"/]*){6}`),
		"a long path":               has(`"path":\{[^}]*"value":"/[^"]{100}`),
		"a long server name":        has(`"sni":\{[^}]*"value":"[^"]{41}`),
		"3 labels":                  has(`"targetRef":\{[^}]*"labels":\{("[^"]*":"[^"]*",?){3,}\}`),
		"a display name":            has(`kuma.io/display-name`),
		"creationTime":              has(`"creationTime"`),
		"modificationTime":          has(`"modificationTime"`),
		"kri":                       has(`"kri"`),
		"no mesh":                   policies(func(_, p map[string]any) bool { return p["type"] != nil && p["mesh"] == nil }),
		"a SPIFFE ID of 7 segments": has(`"value":"spiffe://[^"/]*(/[^"/]+){7}`),
		"a SPIFFE ID with capitals": has(`"value":"spiffe://[^"/]*/[^"]*[A-Z]`),
	},
}

// Whatever a compiler looks at, one run of three at least has a set with it, and one a set without
// it.
func TestDrawnSetsHaveEachFeature(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: thousands of questions")
	}
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []feature.Profile{feature.GEP3779, feature.KumaMTP, feature.IstioAuthz} {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			s := Suite{Selection: Selection{Profiles: []feature.Profile{profile}}, Cases: stories}
			covered, err := s.covered()
			if err != nil {
				t.Fatal(err)
			}
			all := maps.Clone(features[""])
			maps.Copy(all, features[profile])
			const runs = 6
			with, without := map[string]int{}, map[string]int{}
			for s.Seed = range uint64(runs) {
				source := newSource(s, covered, s.freshForms(covered))
				found, lacked := map[string]bool{}, map[string]bool{}
				for number := range uint64(FreshSets) {
					c, ok := source.draw(number)
					if !ok {
						t.Fatal("no set is drawn")
					}
					for _, q := range questionsOf(t, c) {
						for name, is := range all {
							if is(q) {
								found[name] = true
							} else {
								lacked[name] = true
							}
						}
					}
				}
				for name := range found {
					with[name]++
				}
				for name := range lacked {
					without[name]++
				}
			}
			for _, name := range slices.Sorted(maps.Keys(all)) {
				if with[name] < runs/3 || without[name] < runs/3 {
					t.Errorf("%s: %d of %d runs have a set with it, %d a set without", name, with[name], runs, without[name])
				}
			}
		})
	}
}
