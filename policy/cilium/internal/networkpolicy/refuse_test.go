package networkpolicy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/evaluation"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestRefusals compares the error of each policy in the archive with the text in the comment
// above the policy.
func TestRefusals(t *testing.T) {
	t.Parallel()
	golden.Refusals(t, "refusals.txtar", dialecttest.Refusal(networkpolicy.ParseAll))
}

// TestCheckRefusesWhatIsAmbiguous has for each row policies that give no program on the backend.
func TestCheckRefusesWhatIsAmbiguous(t *testing.T) {
	t.Parallel()
	const subject = "spec: {endpointSelector: {matchLabels: {app: backend}}, "
	const notMerged = " is about the same peers on the same port, and Cilium cannot merge the two: it then applies no policy of the workload, those of ingress neither"
	const unmerged = " at p.yaml:2: spec.egress[0].toPorts[0]" + notMerged
	const merged = "p.yaml:2: spec.ingress[1]: the rule at p.yaml:2: spec.ingress[0] has another authentication for the same peers on the same port, and Cilium then applies no policy of the workload: give both the same mode"
	for name, row := range map[string]struct {
		policies, want string
		twins, alone   bool
	}{
		"labels where no workload is known": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+"ingress: [{fromEndpoints: [{}]}]}"), alone: true,
			want: "p.yaml:2: spec.ingress[0]: the rule names its peers, and no workload is known that a caller could be: describe the workloads in a case, with policies: {files: [...]}",
		},
		"the world where no workload is known": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+"ingressDeny: [{fromCIDR: [10.0.0.0/8]}]}"), alone: true,
			want: "p.yaml:2: spec.ingressDeny[0]: the rule names its peers, and no workload is known that a caller could be: describe the workloads in a case, with policies: {files: [...]}",
		},
		"all where no workload is known": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{fromEntities: [all]}, {toPorts: [{ports: [{port: "80"}]}]}, {}]}`), alone: true,
		},
		"one of two workloads with one certificate": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+"ingress: [{fromEndpoints: [{matchLabels: {app: frontend}}]}]}"), twins: true,
			want: "p.yaml:2: spec.ingress[0]: the rule names the workload frontend and not twin, but their certificates have the same identity spiffe://td/frontend: give one of them another service account",
		},
		"both workloads with one certificate": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+"ingress: [{fromEndpoints: [{matchExpressions: [{key: app, operator: In, values: [frontend, twin]}]}]}]}"), twins: true,
		},
		"one workload by two modes": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+"ingress: [{fromEndpoints: [{}]}, {fromEntities: [cluster], authentication: {mode: test-always-fail}}]}"),
			want:     "p.yaml:2: spec.ingress[1]: the rule at p.yaml:2: spec.ingress[0] lets the same caller in with another authentication: give both the same mode",
		},
		"the world by two modes": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+"ingress: [{fromEntities: [world]}, {fromEntities: [all], authentication: {mode: required}}]}"),
			want:     "p.yaml:2: spec.ingress[1]: the rule at p.yaml:2: spec.ingress[0] lets the same caller in with another authentication: give both the same mode",
		},
		"one workload by two written modes": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+"ingress: [{fromEndpoints: [{}], authentication: {mode: disabled}}, {fromEndpoints: [{}], authentication: {mode: required}}]}"),
			want:     "p.yaml:2: spec.ingress[1]: the rule at p.yaml:2: spec.ingress[0] lets the same caller in with another authentication: give both the same mode",
		},
		"two written modes on a port without an inbound": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{fromEntities: [cluster], authentication: {mode: disabled}, toPorts: [{ports: [{port: "9999"}]}]}, {fromEndpoints: [{matchLabels: {"reserved:host": ""}}], authentication: {mode: required}, toPorts: [{ports: [{port: "9999", protocol: UDP}]}]}]}`),
			want:     merged,
		},
		"two written modes of labels that nobody has": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{fromEndpoints: [{matchLabels: {x: absent}}], authentication: {mode: disabled}}, {fromEndpoints: [{}, {matchLabels: {x: absent}}], authentication: {mode: required}}]}`),
			want:     merged,
		},
		"two written modes of everybody on a port by its name": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{authentication: {mode: disabled}, toPorts: [{ports: [{port: none}]}]}, {fromEntities: [all], authentication: {mode: required}, toPorts: [{ports: [{port: NONE, protocol: TCP}]}]}]}`),
			want:     merged,
		},
		"two written modes of blocks and messages": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{fromCIDR: [10.0.0.0/8], authentication: {mode: disabled}, icmps: [{fields: [{type: 8}]}]}, {fromCIDRSet: [{cidr: 10.0.0.0/8}], authentication: {mode: required}, icmps: [{fields: [{type: Echo}]}]}]}`),
			want:     merged,
		},
		"two written modes of two protocols": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{fromEndpoints: [{}], authentication: {mode: disabled}, toPorts: [{ports: [{port: "9999", protocol: TCP}]}]}, {fromEndpoints: [{}], authentication: {mode: required}, toPorts: [{ports: [{port: "9999", protocol: UDP}, {port: "9999", endPort: 9999}]}]}]}`),
		},
		"two written modes of two labels that nobody has": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{fromEndpoints: [{matchLabels: {x: absent}}], authentication: {mode: disabled}}, {fromEndpoints: [{matchLabels: {x: gone}}], authentication: {mode: required}}]}`),
		},
		"a certificate is what the mode asks for": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+"ingress: [{fromEndpoints: [{}]}, {fromEntities: [cluster], authentication: {mode: required}}]}"),
		},
		"two modes on two ports": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{fromEntities: [world], toPorts: [{ports: [{port: "8080"}]}]}, {fromEntities: [all], authentication: {mode: required}, toPorts: [{ports: [{port: "8081"}]}]}]}`),
		},
		"calls by two kinds of proxies": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toEntities: [world], toPorts: [{ports: [{port: "53"}], rules: {dns: [{matchPattern: "*"}]}}, {ports: [{port: "53", protocol: TCP}], rules: {http: [{}]}}]}]}`),
			want:     "p.yaml:2: spec.egress[0].toPorts[1]: the rule" + unmerged,
		},
		"calls by two listeners": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toEntities: [all], toPorts: [{ports: [{port: "80"}], listener: {envoyConfig: {name: a}, name: b}}]}, {toPorts: [{ports: [{port: "80", protocol: TCP}], listener: {envoyConfig: {name: a}, name: c}}]}]}`),
			want:     "p.yaml:2: spec.egress[1].toPorts[0]: the rule" + unmerged,
		},
		"calls by two modes": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toCIDR: [10.0.0.0/8], authentication: {mode: disabled}}, {toCIDRSet: [{cidr: 10.0.0.0/8}], authentication: {mode: required}}]}`),
			want:     "p.yaml:2: spec.egress[1]: the rule at p.yaml:2: spec.egress[0]" + notMerged,
		},
		"calls to a name with other secrets": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toFQDNs: [{matchName: a}], toPorts: [{ports: [{port: "443"}], originatingTLS: {secret: {name: a}}}]}, {toFQDNs: [{matchName: a}], toPorts: [{ports: [{port: "443"}], originatingTLS: {secret: {name: b}}}]}]}`),
			want:     "p.yaml:2: spec.egress[1].toPorts[0]: the rule" + unmerged,
		},
		"calls to a service by two listeners": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toServices: [{k8sService: {serviceName: a, namespace: b}}], toPorts: [{ports: [{port: "80"}], listener: {envoyConfig: {name: a}, name: b}}]}, {toServices: [{k8sService: {namespace: b, serviceName: a}}], toPorts: [{ports: [{port: "80"}], listener: {envoyConfig: {name: a}, name: c}}]}]}`),
			want:     "p.yaml:2: spec.egress[1].toPorts[0]: the rule" + unmerged,
		},
		"calls to two services by two listeners": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toServices: [{k8sService: {serviceName: a}}], toPorts: [{ports: [{port: "80"}], listener: {envoyConfig: {name: a}, name: b}}]}, {toServices: [{k8sService: {serviceName: b}}], toPorts: [{ports: [{port: "80"}], listener: {envoyConfig: {name: a}, name: c}}]}]}`),
		},
		"calls to a group of blocks by two modes": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toCIDRSet: [{cidrGroupRef: office}], authentication: {mode: disabled}}, {toCIDRSet: [{cidrGroupRef: office}], authentication: {mode: required}}]}`),
			want:     "p.yaml:2: spec.egress[1]: the rule at p.yaml:2: spec.egress[0]" + notMerged,
		},
		"calls to groups of blocks, each by another mode": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toCIDRSet: [{cidrGroupRef: office}], authentication: {mode: disabled}}, {toCIDRSet: [{cidrGroupRef: home}, {cidrGroupRef: office, except: [10.0.0.0/8]}], authentication: {mode: required}}]}`),
		},
		"names of servers beside HTTP rules of calls": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toEntities: [world], toPorts: [{ports: [{port: "443", protocol: TCP}], serverNames: [a]}, {ports: [{port: "443", protocol: TCP}], rules: {http: [{}]}}]}]}`),
			want:     "p.yaml:2: spec.egress[0].toPorts[1]: the rule" + unmerged,
		},
		"calls that are merged, or are of other peers and ports": {
			policies: one("CiliumNetworkPolicy", "name: p", subject+`ingress: [{}], egress: [{toEntities: [world], toPorts: [{ports: [{port: "443", protocol: TCP}], rules: {http: [{}]}}, {ports: [{port: "443", protocol: TCP}], originatingTLS: {secret: {name: a}}}, {ports: [{port: "443"}]}, {ports: [{port: "444"}], rules: {dns: [{matchPattern: "*"}]}}]}, {toEntities: [host], toPorts: [{ports: [{port: "443"}], rules: {dns: [{matchPattern: "*"}]}}]}, {toEndpoints: [], toPorts: [{ports: [{port: "443"}], serverNames: [a]}]}]}`),
		},
		"calls of another workload": {
			policies: one("CiliumNetworkPolicy", "name: p", `spec: {endpointSelector: {matchLabels: {app: other}}, egress: [{toCIDR: [10.0.0.0/8], authentication: {mode: disabled}}, {toCIDR: [10.0.0.0/8], authentication: {mode: required}}]}`),
		},
	} {
		opts := options()
		if row.twins {
			opts.Peers = append(opts.Peers, language.Peer{Workload: policy.Workload{Name: "twin", Labels: map[string]string{"app": "twin"}}, Identity: opts.Peers[1].Identity})
		}
		if row.alone {
			opts.Peers = nil
		}
		got := ""
		if err := networkpolicy.Check(parseAll(t, row.policies), inbounds()[0], opts); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s: refused with\n%s\nwant\n%s", name, got, row.want)
		}
	}
}

func TestOwnedDocuments(t *testing.T) {
	t.Parallel()
	dialecttest.Owned(t, networkpolicy.Owns, map[string]bool{
		"{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy}":                              true,
		"{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy}":                   true,
		"{apiVersion: cilium.io/v9, kind: CiliumNetworkPolicy}":                              true,
		"{apiVersion: cilium.io/v2, kind: CiliumEnvoyConfig}":                                false,
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy}":                            false,
		"{type: MeshTrafficPermission, apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy}": true,
		"[CiliumNetworkPolicy]": false,
	})
}

// FuzzParseAll feeds any text: accepted policies can be selected, lowered and judged, and both
// opinions agree.
func FuzzParseAll(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/programs/rules.txtar")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(archive.Files[0].Data, "spiffe://td/frontend", "GET", "/public?a")
	f.Fuzz(func(t *testing.T, data []byte, uri, method, path string) {
		docs, err := manifest.Parse("f.yaml", data)
		if err != nil {
			return
		}
		ps, err := networkpolicy.ParseAll(docs)
		if err != nil {
			return
		}
		opts := options()
		networkpolicy.Lint(ps, inbounds(), opts)
		for _, in := range inbounds() {
			if networkpolicy.Check(ps, in, opts) != nil {
				continue
			}
			r := policy.Request{URIs: []string{uri}}
			if in.Protocol != policy.TCP {
				r.Method, r.Path = method, path
			}
			program := networkpolicy.Lower(networkpolicy.Select(ps, in, opts), in, opts)
			if err := program.Check(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(evaluation.ForInbound(ps, in, opts)(r), policy.Decide(program, r)); diff != "" {
				t.Fatalf("%s %+v (-text +program):\n%s\n%s", in, r, diff, program)
			}
		}
	})
}
