package plugins

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/feature"
)

var cilium = func() project {
	p := newProject("cilium", "cilium.io", feature.CiliumIngress, "CiliumLimits")
	// Cilium's datapath and its proxy know identities, and no names of policies.
	p.anyNames = true
	return p
}()

// TestCilium runs the cases of Cilium with what its agent computes for datapath and proxy.
func TestCilium(t *testing.T) {
	t.Parallel()
	cilium.agree(t)
}

var (
	// oddValues stand for each field. Each of them is odd for one of them, and sound for another.
	oddValues = []string{
		"null", `""`, "a", "A", `"*"`, "1", "0", "-1", "1.5", "true", "[]", "[null]", "[a]", "[1]", "{}", "[{}]", "[[]]", "{a: b}", `"80"`, `"65535"`, `"65536"`, "GET", `"("`, `"a b"`, `" a"`, "ü", "all", "world", "world-ipv4",
		"10.0.0.1", "10.0.0.0/8", "10.1.2.3/8", `"::1/128"`, strings.Repeat("a", 64),
	}
	// ruleFields are those of a rule of ingress, or of egress where it begins with to.
	ruleFields = []string{
		"fromEndpoints", "fromEntities", "fromCIDR", "fromCIDRSet", "fromNodes", "fromGroups", "fromRequires", "toPorts", "icmps", "authentication", "toEndpoints", "toEntities", "toCIDR", "toCIDRSet", "toServices", "toFQDNs", "toNodes", "toGroups", "toRequires", "from", "auth",
	}
	addresses = []string{
		`""`, "null", "1", "10.0.0.1", "10.0.0.0/8", "10.1.2.3/8", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/08", "010.0.0.0/8", "10.0.0.0/", "/8", "0.0.0.0/0", `"::/0"`, `"::1"`, `"::1/128"`, `"fe80::1%eth0/64"`, `"::ffff:10.0.0.0/104"`, "10.0.0.0/-1", "a", "a/8", `" 10.0.0.0/8"`, `"10.0.0.0/255.0.0.0"`, `"2001:db8::/32"`, `"2001:DB8::/32"`,
	}
	ports = []string{
		`{}`, "null", `{port: null}`, `{port: ""}`, `{port: 80}`, `{port: "80"}`, `{port: "0"}`, `{port: "65535"}`, `{port: "65536"}`, `{port: "-1"}`, `{port: "+80"}`, `{port: "080"}`, `{port: "0x50"}`, `{port: "0b1"}`, `{port: "1_0"}`, `{port: "80-90"}`, `{port: " 80"}`, `{port: http}`, `{port: HTTP}`, `{port: a}`, `{port: a1}`, `{port: 1a}`, `{port: "1"}`, `{port: a-b}`, `{port: a--b}`, `{port: -a}`, `{port: a-}`, `{port: a_b}`, `{port: a.b}`, `{port: abcdefghijklmno}`, `{port: abcdefghijklmnop}`, `{port: "*"}`, `{port: ü}`, `{port: "{{a}}"}`,
		`{port: "80", endPort: null}`, `{port: "80", endPort: 0}`, `{port: "80", endPort: 79}`, `{port: "80", endPort: 80}`, `{port: "80", endPort: 90}`, `{port: "80", endPort: 65535}`, `{port: "80", endPort: 65536}`, `{port: "80", endPort: -1}`, `{port: "80", endPort: "90"}`, `{port: "0", endPort: 90}`, `{port: http, endPort: 90}`, `{port: http, endPort: 0}`, `{endPort: 90}`, `{port: "80", ports: "90"}`,
	}
	protocols = []string{"null", `""`, "TCP", "tcp", "Tcp", "UDP", "SCTP", "ANY", "any", "ICMP", "ICMPv6", "ICMPV6", "VRRP", "IGMP", "GRE", "IPIP", "IPv6", "ESP", "AH", "HTTP", "1", "6", `"6"`}
	authModes = []string{"{}", "null", "{mode: null}", `{mode: ""}`, "{mode: disabled}", "{mode: required}", "{mode: test-always-fail}", "{mode: always}", "{mode: Required}", "{mode: 1}", "required", "{mode: required, a: b}", "[]"}
	portRules = []string{
		"null", "{}", "[]", "{http: null}", "{http: []}", "{http: {}}", "{http: [null]}", "{http: [{}]}", "{http: [{}, {}]}", "{http: [a]}", "{dns: null}", "{dns: []}", "{dns: [{}]}", "{dns: [{matchName: a}]}", "{dns: [{matchPattern: '*'}]}", "{dns: [{matchName: 'a b'}]}", "{http: [], dns: []}", "{http: [], dns: null}", "{http: [{}], dns: [{matchName: a}]}", "{kafka: []}", "{kafka: null}", "{kafka: [{}]}", "{l7proto: a}", "{l7proto: null}", "{l7: [{}]}", "{https: [{}]}", "{http: [{}], kafka: []}",
		"{http: [{path: null}]}", `{http: [{path: ""}]}`, "{http: [{path: /}]}", "{http: [{path: a}]}", `{http: [{path: "/("}]}`, `{http: [{path: "/(?=a)"}]}`, `{http: [{path: "/a{2,1}"}]}`, `{http: [{path: "/a{1001}"}]}`, `{http: [{path: "/\\d"}]}`, `{http: [{path: "/\\p{Greek}"}]}`, `{http: [{path: "*"}]}`, `{http: [{path: 1}]}`, "{http: [{path: [a]}]}", "{http: [{paths: a}]}", `{http: [{path: "(?i)/a"}]}`,
		"{http: [{method: GET}]}", "{http: [{method: get}]}", `{http: [{method: "GET|POST"}]}`, `{http: [{method: "("}]}`, `{http: [{method: ""}]}`, "{http: [{method: [GET]}]}", "{http: [{host: a.example}]}", `{http: [{host: "("}]}`, `{http: [{host: "*.example"}]}`, `{http: [{host: ""}]}`, "{http: [{host: A}]}", `{http: [{host: "a b"}]}`, "{http: [{host: ü.example}]}", `{http: [{host: "[::1]"}]}`,
		"{http: [{headers: null}]}", "{http: [{headers: []}]}", "{http: [{headers: [x-a]}]}", `{http: [{headers: ["x-a: b"]}]}`, `{http: [{headers: ["x-a b"]}]}`, `{http: [{headers: ["x-a:b"]}]}`, `{http: [{headers: [""]}]}`, `{http: [{headers: [" "]}]}`, `{http: [{headers: ["x a: b"]}]}`, `{http: [{headers: ["x-a:"]}]}`, `{http: [{headers: ["x-a: "]}]}`, `{http: [{headers: [": b"]}]}`, "{http: [{headers: [1]}]}", "{http: [{headers: [null]}]}", "{http: [{headers: x-a}]}", "{http: [{headers: {x-a: b}}]}", `{http: [{headers: ["ü: b"]}]}`, `{http: [{headers: [":path /a"]}]}`, `{http: [{headers: [":scheme http"]}]}`, `{http: [{headers: [host]}]}`, `{http: [{headers: [":authority a"]}]}`, `{http: [{headers: ["x-a: ü"]}]}`, `{http: [{headers: [content-length]}]}`, `{http: [{headers: [x-forwarded-for]}]}`,
		"{http: [{headerMatches: null}]}", "{http: [{headerMatches: []}]}", "{http: [{headerMatches: [{}]}]}", "{http: [{headerMatches: [null]}]}", "{http: [{headerMatches: [{name: null}]}]}", `{http: [{headerMatches: [{name: ""}]}]}`, "{http: [{headerMatches: [{name: x-a}]}]}", "{http: [{headerMatches: [{name: x-a, value: b}]}]}", `{http: [{headerMatches: [{name: x-a, value: ""}]}]}`, "{http: [{headerMatches: [{name: x-a, value: null}]}]}", "{http: [{headerMatches: [{name: x-a, value: 1}]}]}", "{http: [{headerMatches: [{name: x a, value: b}]}]}", "{http: [{headerMatches: [{value: b}]}]}",
		`{http: [{headerMatches: [{name: x-a, mismatch: ""}]}]}`, "{http: [{headerMatches: [{name: x-a, mismatch: null}]}]}", "{http: [{headerMatches: [{name: x-a, mismatch: LOG}]}]}", "{http: [{headerMatches: [{name: x-a, value: b, mismatch: ADD}]}]}", "{http: [{headerMatches: [{name: x-a, value: b, mismatch: DELETE}]}]}", "{http: [{headerMatches: [{name: x-a, value: b, mismatch: REPLACE}]}]}", "{http: [{headerMatches: [{name: x-a, mismatch: FAIL}]}]}", "{http: [{headerMatches: [{name: x-a, mismatch: log}]}]}",
		"{http: [{headerMatches: [{name: x-a, secret: {name: b}}]}]}", "{http: [{headerMatches: [{name: x-a, secret: {}}]}]}", `{http: [{headerMatches: [{name: x-a, secret: {name: ""}}]}]}`, "{http: [{headerMatches: [{name: x-a, secret: null}]}]}", "{http: [{headerMatches: [{name: x-a, secret: {name: b}, value: c}]}]}", "{http: [{headerMatches: [{name: ':scheme', value: b}]}]}", "{http: [{headerMatches: [{name: x-a, value: ü}]}]}",
	}
	entries = []string{
		"null", "{}", "[]", "{ports: null}", "{ports: []}", `{ports: {port: "80"}}`, `{ports: [{port: "80"}], serverNames: null}`, `{ports: [{port: "80"}], serverNames: []}`, `{ports: [{port: "81"}], serverNames: [a.example]}`, `{ports: [{port: "81"}], serverNames: [""]}`, `{ports: [{port: "81"}], serverNames: [a, a]}`, `{ports: [{port: "81"}], serverNames: ["a b"]}`, `{ports: [{port: "81", protocol: TCP}], serverNames: [a], rules: {http: [{}]}}`,
		`{ports: [{port: "80"}], terminatingTLS: null}`, `{ports: [{port: "80"}], listener: null}`, `{ports: [{port: "80"}], listener: {name: a}}`, `{ports: [{port: "80"}], listener: {envoyConfig: {name: a}, name: b}}`, `{ports: [{port: "80"}], rule: {}}`, `{rules: {http: [{}]}}`, `{ports: [], rules: {http: [{}]}}`,
	}
	sets = []string{
		"null", "{}", "[]", "a", "{cidr: null}", `{cidr: ""}`, "{cidr: 10.0.0.0/8, except: null}", "{cidr: 10.0.0.0/8, except: []}", "{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}", "{cidr: 10.0.0.0/8, except: [10.0.0.0/8]}", "{cidr: 10.0.0.0/8, except: [11.0.0.0/16]}", "{cidr: 10.0.0.0/8, except: [10.0.0.0/4]}", "{cidr: 10.0.0.0/8, except: [10.0.0.1]}", `{cidr: 10.0.0.0/8, except: ["::/0"]}`, `{cidr: 10.0.0.0/8, except: [""]}`, "{cidr: 10.0.0.0/8, except: 10.1.0.0/16}", "{cidr: 10.1.2.3/8, except: [10.1.2.3/16]}", `{cidr: "0.0.0.0/0", except: ["2001:db8::/32"]}`,
		"{except: [10.0.0.0/8]}", "{cidrGroupRef: a}", `{cidrGroupRef: ""}`, "{cidrGroupRef: A_b}", "{cidrGroupRef: a, except: [10.0.0.0/8]}", "{cidrGroupSelector: {}}", "{cidrGroupSelector: null}", "{cidrGroupSelector: {matchLabels: {a: b}}}", "{cidr: 10.0.0.0/8, cidrGroupRef: a}", "{cidr: 10.0.0.0/8, cidrs: []}",
	}
	icmps = []string{"null", "[]", "[null]", "[{}]", "[{fields: null}]", "[{fields: []}]", "[{fields: [{}]}]", "[{fields: [{type: 8}]}]", "[{fields: [{type: EchoRequest}]}]", "[{fields: [{type: '8'}]}]", "[{fields: [{type: 256}]}]", "[{fields: [{type: -1}]}]", "[{fields: [{type: Nothing}]}]", "[{fields: [{type: 8, family: IPv4}]}]", "[{fields: [{type: 8, family: IPv6}]}]", "[{fields: [{type: 8, family: ipv4}]}]", `[{fields: [{type: 8, family: ""}]}]`, "[{fields: [{type: PacketTooBig}]}]", "[{fields: [{type: PacketTooBig, family: IPv4}]}]", "[{fields: [{type: PacketTooBig, family: IPv6}]}]", "[{fields: [{type: Photuris, family: IPv6}]}]", "[{fields: [{type: ExtendedEchoReply}]}]", "[{fields: [{type: ExtendedEchoRequest, family: IPv6}]}]", "[{fields: [{type: 4294967296}]}]", "[{fields: [{family: IPv4}]}]", "[{field: []}]"}
	// labelSelectors select endpoints.
	labelSelectors = []string{
		"null", "{}", "[]", "a", "{matchLabels: null}", "{matchLabels: {}}", "{matchLabels: []}", "{matchLabels: {a: b}}", `{matchLabels: {a: ""}}`, "{matchLabels: {a: null}}", "{matchLabels: {a: 1}}", "{matchLabels: {a: true}}", `{matchLabels: {"": b}}`, `{matchLabels: {"a b": c}}`, `{matchLabels: {a: "b c"}}`, "{matchLabels: {a: ü}}", "{matchLabels: {ü: a}}", "{matchLabels: {A: B}}", "{matchLabels: {a.b/c: d}}", "{matchLabels: {a/b/c: d}}", "{matchLabels: {A.b/c: d}}", "{matchLabels: {-a: b}}", "{matchLabels: {a-: b}}", "{matchLabels: {a: -b}}", "{matchLabels: {a: b-}}", "{matchLabels: {a_b: c_d}}", `{matchLabels: {"/a": b}}`, `{matchLabels: {"a/": b}}`,
		`{matchLabels: {"k8s:a": b}}`, `{matchLabels: {"any:a": b}}`, `{matchLabels: {a: b, "any:a": b}}`, `{matchLabels: {a: b, "any:a": c}}`, `{matchLabels: {a: b, "k8s:a": c}}`, `{matchLabels: {"reserved:host": ""}}`, `{matchLabels: {"reserved:world": ""}}`, `{matchLabels: {"reserved.host": ""}}`, `{matchLabels: {"k8s.a": b}}`, `{matchLabels: {"container:a": b}}`, `{matchLabels: {"cidr:10.0.0.0/8": ""}}`, `{matchLabels: {":a": b}}`, `{matchLabels: {"k8s:": b}}`, `{matchLabels: {"k8s:a:b": c}}`, `{matchLabels: {"K8s:a": b}}`, `{matchLabels: {"$a": b}}`, `{matchLabels: {"k8s:io.kubernetes.pod.namespace": a}}`, `{matchLabels: {"unspec:a": b}}`, `{matchLabels: {"fqdn:a": b}}`, `{matchLabels: {"node:a": b}}`,
		"{matchLabels: {a: " + strings.Repeat("b", 63) + "}}", "{matchLabels: {a: " + strings.Repeat("b", 64) + "}}", "{matchLabels: {" + strings.Repeat("a", 63) + ": b}}", "{matchLabels: {" + strings.Repeat("a", 64) + ": b}}",
		"{matchExpressions: null}", "{matchExpressions: []}", "{matchExpressions: {}}", "{matchExpressions: [{}]}", "{matchExpressions: [null]}", "{matchExpressions: [{key: a}]}", "{matchExpressions: [{operator: Exists}]}", `{matchExpressions: [{key: "", operator: Exists}]}`, "{matchExpressions: [{key: a, operator: null}]}", "{matchExpressions: [{key: a, operator: Equals, values: [b]}]}", "{matchExpressions: [{key: a, operator: in, values: [b]}]}", "{matchExpressions: [{key: a, operator: In}]}", "{matchExpressions: [{key: a, operator: In, values: null}]}", "{matchExpressions: [{key: a, operator: In, values: []}]}", "{matchExpressions: [{key: a, operator: In, values: [b]}]}", "{matchExpressions: [{key: a, operator: In, values: [b, b]}]}", `{matchExpressions: [{key: a, operator: In, values: [""]}]}`, "{matchExpressions: [{key: a, operator: In, values: [1]}]}", `{matchExpressions: [{key: a, operator: In, values: ["b c"]}]}`,
		"{matchExpressions: [{key: a, operator: NotIn}]}", "{matchExpressions: [{key: a, operator: NotIn, values: []}]}", "{matchExpressions: [{key: a, operator: NotIn, values: [b]}]}", `{matchExpressions: [{key: a, operator: NotIn, values: ["b c"]}]}`, "{matchExpressions: [{key: a, operator: Exists}]}", "{matchExpressions: [{key: a, operator: Exists, values: []}]}", "{matchExpressions: [{key: a, operator: Exists, values: [b]}]}", "{matchExpressions: [{key: a, operator: DoesNotExist}]}", "{matchExpressions: [{key: a, operator: DoesNotExist, values: [b]}]}", `{matchExpressions: [{key: "a b", operator: Exists}]}`, `{matchExpressions: [{key: "k8s:a", operator: Exists}]}`, `{matchExpressions: [{key: "container:a", operator: Exists}]}`, `{matchExpressions: [{key: "reserved:world", operator: DoesNotExist}]}`, "{matchExpressions: [{key: a, operator: Exists, value: b}]}", "{matchLabel: {a: b}}", "{match_labels: {a: b}}", "{app: backend}",
	}
	// ciliumSpecs are of any shape.
	ciliumSpecs = []string{
		"{}", "null", "[]", "a", "{ingress: [{}]}", "{endpointSelector: {}}", "{endpointSelector: {}, ingress: null}", "{endpointSelector: {}, ingress: []}", "{endpointSelector: {}, ingress: {}}", "{endpointSelector: {}, ingress: [null]}", "{endpointSelector: {}, ingress: [{}, {}]}", "{endpointSelector: {}, ingress: [a]}", "{endpointSelector: {}, ingressDeny: []}", "{endpointSelector: {}, ingressDeny: [{}]}", "{endpointSelector: {}, egress: []}", "{endpointSelector: {}, egress: [{}]}", "{endpointSelector: {}, egressDeny: [{}]}", "{endpointSelector: {}, ingress: [], egress: [{}]}",
		"{nodeSelector: {}, ingress: [{}]}", "{endpointSelector: {}, nodeSelector: {}, ingress: [{}]}", "{endpointSelector: null, nodeSelector: {}, ingress: [{}]}", "{endpointSelector: {}, nodeSelector: null, ingress: [{}]}", `{nodeSelector: {}, ingress: [{toPorts: [{ports: [{port: "80", protocol: TCP}], rules: {http: [{}]}}]}]}`, `{nodeSelector: {}, egress: [{toPorts: [{ports: [{port: "80", protocol: TCP}], rules: {http: [{}]}}]}]}`, `{nodeSelector: {}, ingress: [{toPorts: [{ports: [{port: "80"}]}]}]}`, "{nodeSelector: {matchLabels: {'a b': c}}, ingress: [{}]}",
		"{endpointSelector: {}, ingress: [{}], enableDefaultDeny: null}", "{endpointSelector: {}, ingress: [{}], enableDefaultDeny: {}}", "{endpointSelector: {}, ingress: [{}], enableDefaultDeny: true}", "{endpointSelector: {}, ingress: [{}], enableDefaultDeny: {ingress: null}}", "{endpointSelector: {}, ingress: [{}], enableDefaultDeny: {ingress: false, egress: true}}", `{endpointSelector: {}, ingress: [{}], enableDefaultDeny: {ingress: "false"}}`, "{endpointSelector: {}, ingress: [{}], enableDefaultDeny: {ingres: false}}",
		"{endpointSelector: {}, ingress: [{}], description: a}", "{endpointSelector: {}, ingress: [{}], description: 1}", "{endpointSelector: {}, ingress: [{}], description: null}", "{endpointSelector: {}, ingress: [{}], labels: []}", "{endpointSelector: {}, ingress: [{}], labels: [{key: a}]}", "{endpointSelector: {}, ingress: [{}], labels: [{key: a, value: b, source: c}]}", "{endpointSelector: {}, ingress: [{}], labels: [{value: b}]}", `{endpointSelector: {}, ingress: [{}], labels: [{key: "", value: b}]}`, "{endpointSelector: {}, ingress: [{}], labels: [a]}", "{endpointSelector: {}, ingress: [{}], labels: {a: b}}", "{endpointSelector: {}, ingress: [{}], labels: [{key: a, cidr: b}]}", "{endpointSelector: {}, ingress: [{}], log: {value: a}}", "{endpointSelector: {}, ingress: [{}], log: {}}", "{endpointSelector: {}, ingress: [{}], log: a}", `{endpointSelector: {}, ingress: [{}], log: {value: "a!"}}`, "{endpointSelector: {}, ingress: [{}], log: {level: a}}", "{endpointSelector: {}, ingress: [{}], ingresses: []}", "{endpointselector: {}, ingress: [{}]}",
		"{endpointSelector: {}, ingress: [{fromEndpoints: [{}], fromEntities: [world]}]}", "{endpointSelector: {}, ingress: [{fromEndpoints: [], fromEntities: [world]}]}", "{endpointSelector: {}, ingress: [{fromCIDR: [10.0.0.0/8], fromCIDRSet: [{cidr: 10.0.0.0/8}]}]}", "{endpointSelector: {}, ingress: [{fromNodes: [], fromEntities: [world]}]}", "{endpointSelector: {}, ingress: [{fromGroups: [{aws: {}}], fromEntities: [world]}]}", `{endpointSelector: {}, ingress: [{icmps: [{fields: [{type: 8}]}], toPorts: [{ports: [{port: "80"}]}]}]}`, "{endpointSelector: {}, ingress: [{icmps: [], toPorts: [{}]}]}", "{endpointSelector: {}, ingress: [{icmps: [{fields: [{type: 8}]}], toPorts: []}]}",
		`{endpointSelector: {}, egress: [{toServices: [{}], toPorts: [{ports: [{port: "80"}]}]}]}`, "{endpointSelector: {}, egress: [{toServices: [{k8sService: {serviceName: a, namespace: b}}]}]}", "{endpointSelector: {}, egress: [{toServices: [{k8sServiceSelector: {selector: {}}}]}]}", "{endpointSelector: {}, egress: [{toEndpoints: [{}], toServices: [{}]}]}", "{endpointSelector: {}, egress: [{toFQDNs: [{matchName: a}], toEntities: [world]}]}", "{endpointSelector: {}, egress: [{toFQDNs: [{matchName: a, matchPattern: b}]}]}", "{endpointSelector: {}, egress: [{toFQDNs: [{}]}]}", `{endpointSelector: {}, egress: [{toFQDNs: [{matchName: "a b"}]}]}`, "{endpointSelector: {}, egress: [{toFQDNs: [{matchPattern: '*.a.example'}]}]}", "{endpointSelector: {}, egress: [{toNodes: [{}]}]}", "{endpointSelector: {}, egress: [{toNodes: []}]}", "{endpointSelector: {}, egress: [{toGroups: [{aws: {region: a}}]}]}",
		"{endpointSelector: {}, ingressDeny: [{authentication: {mode: required}}]}", `{endpointSelector: {}, ingressDeny: [{toPorts: [{ports: [{port: "80", protocol: TCP}], rules: {http: [{}]}}]}]}`, `{endpointSelector: {}, ingressDeny: [{toPorts: [{ports: [{port: "80"}], rules: null}]}]}`, `{endpointSelector: {}, ingressDeny: [{toPorts: [{ports: [{port: "80"}], serverNames: [a]}]}]}`, `{endpointSelector: {}, ingressDeny: [{toPorts: [{ports: [{port: "80"}], listener: {}}]}]}`, "{endpointSelector: {}, egressDeny: [{toFQDNs: [{matchName: a}]}]}", "{endpointSelector: {}, egressDeny: [{authentication: {mode: required}}]}", "{endpointSelector: {}, egressDeny: [{toServices: [{}]}]}",
		`{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "53"}], rules: {dns: [{matchPattern: "*"}]}}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "53", endPort: 54}], rules: {dns: [{matchPattern: "*"}]}}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{rules: {dns: [{matchPattern: "*"}]}}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "80", protocol: TCP}], rules: {http: [{}]}, listener: {envoyConfig: {name: a, kind: CiliumEnvoyConfig}, name: b}}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "80"}], listener: {envoyConfig: {name: a, kind: Other}, name: b}}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "80"}], serverNames: [a], rules: {http: [{}]}}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "80"}], terminatingTLS: {}}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "80"}], originatingTLS: {secret: {name: a}}}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "80"}], serverNames: ["a b"]}]}]}`, `{endpointSelector: {}, egress: [{toPorts: [{ports: [{port: "80"}], serverNames: []}]}]}`,
		"{endpointSelector: {}, ingress: [{toPorts: [{ports: [" + list(40, `{port: "80"}`) + "]}]}]}", "{endpointSelector: {}, ingress: [{toPorts: [{ports: [" + list(41, `{port: "80"}`) + "]}]}]}", "{endpointSelector: {}, ingress: [{icmps: [{fields: [" + list(41, "{type: 8}") + "]}]}]}", "{endpointSelector: {}, ingressDeny: [{toPorts: [{ports: [" + list(41, `{port: "80"}`) + "]}]}]}",
	}
	// ciliumTops are whole policies without their head.
	ciliumTops = []string{
		"", "specs: null", "specs: []", "specs: {}", "specs: [null]", "specs: [{}]", "specs: [{endpointSelector: {}, ingress: [{}]}]", "specs: [{endpointSelector: {}, ingress: [{}]}, {endpointSelector: {}, egress: [{}]}]", "specs: [{endpointSelector: {}, ingress: [{}]}, {endpointSelector: {}}]", "spec: {endpointSelector: {}, ingress: [{}]}, specs: [{endpointSelector: {}, ingress: [{}]}]", "spec: {endpointSelector: {}, ingress: [{}]}, specs: []", "spec: null, specs: []", "spec: {endpointSelector: {}, ingress: [{}]}, description: a", "spec: {endpointSelector: {}, ingress: [{}]}, status: {}", "spec: {endpointSelector: {}, ingress: [{}]}, status: {conditions: [{type: Valid, status: 'True'}]}", "spec: {endpointSelector: {}, ingress: [{}]}, status: a", "spec: {endpointSelector: {}, ingress: [{}]}, rules: []", "spec: [{endpointSelector: {}, ingress: [{}]}]",
	}
)

// drawnOfCilium returns policies that are sound but for one thing, each on one line.
func drawnOfCilium() []string {
	const group, version = "cilium.io/", "cilium.io/v2"
	var out []string
	write := func(version, kind, metadata, rest string) {
		out = append(out, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {%s}, %s}", version, kind, metadata, rest))
	}
	spec := func(format string, a ...any) {
		write(version, "CiliumNetworkPolicy", "name: a", "spec: "+fmt.Sprintf(format, a...))
	}
	lists := []string{"ingress", "ingressDeny", "egress", "egressDeny"}
	for _, list := range lists {
		for _, field := range ruleFields {
			for _, value := range oddValues {
				spec("{endpointSelector: {}, %s: [{%s: %s}]}", list, field, value)
			}
		}
		verb := "from"
		if strings.HasPrefix(list, "egress") {
			verb = "to"
		}
		for _, value := range slices.Concat(addresses, oddValues) {
			spec("{endpointSelector: {}, %s: [{%sCIDR: [%s]}]}", list, verb, value)
			spec("{endpointSelector: {}, %s: [{%sCIDRSet: [{cidr: %s}]}]}", list, verb, value)
			spec("{endpointSelector: {}, %s: [{%sEntities: [%s]}]}", list, verb, value)
		}
		for _, value := range sets {
			spec("{endpointSelector: {}, %s: [{%sCIDRSet: [%s]}]}", list, verb, value)
		}
		for _, value := range ports {
			spec("{endpointSelector: {}, %s: [{toPorts: [{ports: [%s]}]}]}", list, value)
		}
		for _, value := range protocols {
			spec(`{endpointSelector: {}, %s: [{toPorts: [{ports: [{port: "80", protocol: %s}]}]}]}`, list, value)
			spec(`{endpointSelector: {}, %s: [{toPorts: [{ports: [{port: "0", protocol: %s}]}]}]}`, list, value)
			spec(`{endpointSelector: {}, %s: [{toPorts: [{ports: [{protocol: %s}]}]}]}`, list, value)
			spec(`{endpointSelector: {}, %s: [{toPorts: [{ports: [{port: "80", protocol: %s}], rules: {http: [{}]}}]}]}`, list, value)
		}
		for _, value := range authModes {
			spec("{endpointSelector: {}, %s: [{authentication: %s}]}", list, value)
		}
		for _, value := range entries {
			spec("{endpointSelector: {}, %s: [{toPorts: [%s]}]}", list, value)
		}
		for _, value := range icmps {
			spec("{endpointSelector: {}, %s: [{icmps: %s}]}", list, value)
		}
		for _, value := range portRules {
			spec(`{endpointSelector: {}, %s: [{toPorts: [{ports: [{port: "80", protocol: TCP}], rules: %s}]}]}`, list, value)
			spec(`{endpointSelector: {}, %s: [{toPorts: [{ports: [{port: "80"}], rules: %s}]}]}`, list, value)
			spec(`{endpointSelector: {}, %s: [{toPorts: [{ports: [{port: "0", protocol: TCP}], rules: %s}]}]}`, list, value)
		}
		for _, value := range labelSelectors {
			spec("{endpointSelector: {}, %s: [{%sEndpoints: [%s]}]}", list, verb, value)
		}
	}
	for _, kind := range []string{"CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"} {
		for _, s := range ciliumSpecs {
			write(version, kind, "name: a", "spec: "+s)
		}
		for _, s := range ciliumTops {
			write(version, kind, "name: a", s)
		}
		for _, s := range labelSelectors {
			write(version, kind, "name: a", fmt.Sprintf("spec: {endpointSelector: %s, ingress: [{}]}", s))
		}
		for _, head := range heads {
			write(version, kind, head, "spec: {endpointSelector: {}, ingress: [{}]}")
		}
		for _, of := range []string{"v2", "v2alpha1", "v1", ""} {
			write(group+of, kind, "name: a", "spec: {endpointSelector: {}, ingress: [{}]}")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// beyondCilium has what meshproof refuses and Cilium takes.
var beyondCilium = []difference{
	{"expected text, found nothing", "| a text without a value, such as `path:` | never sees it: the API server takes the field as absent |"},
	{"expected a whole number from -2147483648 to 2147483647, found nothing", "| `endPort:` without a value | never sees it |"},
	{"metadata.nam: unknown field", "| an unknown field of `metadata` | never sees it: the API server drops it |"},
	{"fromRequires: Cilium 1.19 has taken the field away", "| `fromRequires`, `toRequires` | takes it, and drops it: the CRD has the field, and `IngressRule` and `EgressRule` do not |"},
	{"toRequires: unknown field", ""},
	{"the policy has neither spec nor specs", "| `specs: []` and no `spec` | takes it: there is no rule |"},
	{"does not read a CiliumCIDRGroup", "| `cidrGroupRef` on ingress, `cidrGroupSelector` | asks for the blocks of other objects |"},
	{"meshproof knows no node", "| `fromNodes: []` | takes it where it is empty, and else only with the flag `enable-node-selector-labels` |"},
	{"cannot ask a cloud", "| `fromGroups` | asks a cloud for addresses |"},
	{"cannot judge the server name", "| `serverNames` on ingress | compares the name in the TLS of the workload |"},
	{"cannot read a secret of the cluster", "| a secret of a header | reads it from the cluster |"},
	{"meshproof cannot prove", "| the mismatches `LOG`, `ADD`, `DELETE` and `REPLACE` | lets the request pass, and changes or logs it |"},
	{"is neither a port in decimal digits nor the name of a port", "| a port such as `1_0` | reads it as a number of Go: 10 (`PortProtocol.sanitize`) |"},
	{"before it begins at", "| `endPort` below `port` | takes it: the datapath has the one port (`toMapState` in `pkg/policy/l4.go`), and its proxy refuses the whole policy (`PortNetworkPolicy` in `cilium/network_policy.cc` of its proxy) |"},
	{"the port 0 is every port", "| `endPort` beside the port `0` | takes it: the datapath has every port (`keysForRange` in `pkg/policy/l4.go`), and its proxy gets no such rule (`GetDirectionNetworkPolicy` in `pkg/envoy/model.go`) |"},
	{"a port with a name is no range", "| `endPort` beside the name of a port | takes it: the range begins at the number that the workload gives to the name |"},
	{"is the same key as any:", "| `app` beside `any:app` with another value in one `matchLabels` | takes one of the two values, at random (`NewESFromK8sLabelSelector` in `pkg/policy/api/selector.go`) |"},
	{"knows no label of the source", "| a label of another source, such as `container:a` or `cidr:10.0.0.0/8` | takes it; no pod has a label of `cidr` or `fqdn` |"},
	{"cannot judge the label", "| `reserved:world`, `reserved:world-ipv4`, `reserved:world-ipv6` | takes it: with one family of addresses the world has the first label, with both the other two (`getWorldLabel` in `pkg/labels/cidr.go`) |"},
	{"is no name of a header", "| a name that no header has, such as `x-a:b` | takes it (`PortRuleHTTP.Sanitize`), and such a header never comes |"},
	{"cannot judge the header", "| a header that Envoy or a codec writes, such as `:scheme` | compares it like any other |"},
	{".host: the regular expression cannot be read", "| `host` with a broken expression | takes it: only `path` and `method` are tried (`PortRuleHTTP.Sanitize`), and its proxy refuses the whole policy |"},
	{"has a character beyond ASCII", "| a character beyond ASCII in an expression | takes it; releases of Envoy read it differently |"},
}

// TestCiliumRefusals holds what is refused against a cluster with Cilium.
func TestCiliumRefusals(t *testing.T) {
	t.Parallel()
	cilium.refuse(t, drawnOfCilium(), "Cilium", beyondCilium)
}
