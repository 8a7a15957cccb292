package cases_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
)

const shop = `
case: shop
workloads:
  - {name: web}
  - {name: shop, inbounds: [{name: api, port: 8080}, {name: gone, port: 8081, answer: refuse}]}
outbounds:
  - {type: MeshService, name: shop, spec: {selector: {dataplaneTags: {app: shop}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}}
policies:
  - {type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 1s}}}]}}
  - {type: MeshTrafficPermission, name: p, spec: {default: {allow: [{}]}}}
requests:
`

func TestRouteds(t *testing.T) {
	t.Parallel()
	all, err := cases.Parse("c.yaml", []byte(shop+`
  - {from: web, to: shop/api, want: allow}
  - from: web
    to: [MeshService/shop:80, kri_msvc_default___shop_80]
    method: POST
    path: /a
    headers: {x: "1"}
    answer: {after: 20ms, parts: 3, every: 10ms, end: stop}
    sends: {headPause: 1ms, bodyPause: 2ms, keep: 3ms}
    want: 504
    route: ""
    backend: shop/api
    by: p
    cause: requestTimeout
    within: 400ms
  - {from: web, to: MeshService/shop:80, grpc: S/M, sends: {open: true}, answer: never, want: DEADLINE_EXCEEDED}
`))
	if err != nil {
		t.Fatal(err)
	}
	c, ms := all[0], time.Millisecond
	if len(c.Requests) != 1 || len(c.Routing) != 2 || len(c.Policies) != 1 || c.Inbounds[1].Reach != script.Refuses {
		t.Errorf("%d requests, %d documents of routing, %d policies, %+v", len(c.Requests), len(c.Routing), len(c.Policies), c.Inbounds[1])
	}
	none, by, cause := "", "p", routing.Bounded(routing.Request)
	first := casefile.RoutedRequest{
		Place: "c.yaml:14: requests[1]", From: "web", To: "MeshService/shop:80", Method: "POST", Path: "/a", Headers: []policy.Header{{Name: "x", Value: "1"}},
		Sends:  casefile.Sending{Head: ms, Body: 2 * ms, Keep: 3 * ms},
		Answer: script.Answer{After: 20 * ms, Parts: 3, Every: 10 * ms, End: script.Stops},
		Want:   "504", Route: &none, Backends: []string{"shop/api"}, By: &by, Cause: &cause, Within: 400 * ms,
	}
	second := first
	second.To = "kri_msvc_default___shop_80"
	third := casefile.RoutedRequest{
		Place: "c.yaml:27: requests[2]", From: "web", To: "MeshService/shop:80", GRPC: "S/M", Sends: casefile.Sending{Open: true},
		Answer: script.Answer{End: script.Stops}, Want: "DEADLINE_EXCEEDED",
	}
	if want := []casefile.RoutedRequest{first, second, third}; !reflect.DeepEqual(c.RoutedRequests, want) {
		t.Errorf("got  %+v\nwant %+v", c.RoutedRequests, want)
	}
}

func TestRoutedsRefuse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{from: nobody, to: "MeshService/shop:80", want: allow}`:                                             `"nobody" is no workload`,
		`{from: web, to: ["MeshService/shop:80", shop/api], want: allow}`:                                    `"shop/api" is no port of a service`,
		`{from: web, to: "MeshService/shop:80"}`:                                                             "does not say what it wants",
		`{from: web, to: "MeshService/shop:80", want: deny}`:                                                 `"deny" is no end of a request through a sidecar`,
		`{from: web, to: "MeshService/shop:80", want: 418}`:                                                  `"418" is no end`,
		`{from: web, to: "MeshService/shop:80", want: UNAVAILABLE}`:                                          "the request is no call",
		`{from: web, to: "MeshService/shop:80", want: allow, sni: a}`:                                        "sni",
		`{from: web, to: "MeshService/shop:80", want: allow, answer: refuse}`:                                "say answer: refuse of the inbound",
		`{from: web, to: "MeshService/shop:80", want: allow, answer: maybe}`:                                 `"maybe" is no answer`,
		`{from: web, to: "MeshService/shop:80", want: allow, answer: {after: 1m}}`:                           "is no time of a script",
		`{from: web, to: "MeshService/shop:80", want: allow, answer: {end: later}}`:                          `"later" is no end of an answer`,
		`{from: web, to: "MeshService/shop:80", want: allow, answer: {delay: 1s}}`:                           "delay",
		`{from: web, to: "MeshService/shop:80", want: allow, sends: {open: true}}`:                           "only a gRPC call can be left open",
		`{from: web, to: "MeshService/shop:80", want: allow, grpc: S/M, sends: {open: true, bodyPause: 1s}}`: "has no end to wait for",
		`{from: web, to: "MeshService/shop:80", want: allow, cause: boredom}`:                                `cause "boredom" is unknown`,
		`{from: web, to: "MeshService/shop:80", want: allow, backend: shop/other}`:                           `there is no inbound "shop/other"`,
		`{from: web, to: "MeshService/shop:80", want: allow, backend: []}`:                                   "no backend is right",
		`{from: web, to: "MeshService/shop:80", want: allow, within: soon}`:                                  "soon",
		`{from: web, to: "MeshService/shop:80", want: allow, within: 0s}`:                                    "a request takes some time",
		`{from: web, to: "MeshService/shop:80", want: allow, within: -1s}`:                                   "less than nothing",
		`{from: web, to: "MeshService/shop:80", want: allow, path: a}`:                                       "does not begin with /",
		`{from: web, to: shop/gone, want: allow}`:                                                            "no connection to inbound shop/gone comes about",
		`{from: web, to: shop/api, want: allow, answer: never}`:                                              "answer",
	} {
		if got := refusal(t, shop+"  - "+line+"\n"); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	if got := refusal(t, strings.Replace(shop, "outbounds:", "callers: {}\noutbounds: [{type: Mesh, name: m}]\nx:", 1)); got == "" {
		t.Error("no refusal")
	}
	const alone = "case: c\nworkloads: [{name: web}]\nrequests:\n  - {from: web, to: 'MeshService/shop:80', want: allow}\n"
	if got := refusal(t, alone); !strings.Contains(got, "no service that a sidecar could reach") {
		t.Error(got)
	}
}
