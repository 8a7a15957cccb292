package explanation

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/policy"
)

// A command line has each word that is needed and no other, quoted for a shell. Where no
// words can say what was asked, there is no line.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	of := cases.Case{Inbounds: []cases.Inbound{
		{Inbound: policy.Inbound{Workload: policy.Workload{Name: "b"}, Name: "h", Protocol: policy.HTTP}},
		{Inbound: policy.Inbound{Workload: policy.Workload{Name: "b"}, Name: "g", Protocol: policy.GRPC}},
		{Inbound: policy.Inbound{Workload: policy.Workload{Name: "b"}, Name: "t", Protocol: policy.TCP}},
	}}
	sound := cases.Caller{Name: "x", Template: certs.Template{URIs: []string{"spiffe://a/b"}}}
	names := func(uris []string, dns ...string) cases.Caller {
		return cases.Caller{Name: "x", Template: certs.Template{URIs: uris, DNS: dns}}
	}
	const start = "meshproof explain 'a b.yaml' --to b/"
	for name, tt := range map[string]struct {
		q     cases.Request
		named bool
		want  string
	}{
		"GET /":              {cases.Request{From: sound, To: "b/h", Method: "GET", Path: "/"}, false, start + "h --from spiffe://a/b"},
		"nothing stated":     {cases.Request{From: sound, To: "b/h"}, false, start + "h --from spiffe://a/b"},
		"method and path":    {cases.Request{From: sound, To: "b/h", Method: "M*", Path: "/$(x)'"}, false, start + `h --from spiffe://a/b --method 'M*' --path '/$(x)'\'''`},
		"gRPC":               {cases.Request{From: sound, To: "b/g", GRPC: "S/M"}, false, start + "g --from spiffe://a/b --method POST --path /S/M"},
		"tcp":                {cases.Request{From: sound, To: "b/t", Method: "GET", Path: "/x"}, false, start + "t --from spiffe://a/b"},
		"by name":            {cases.Request{From: sound, To: "b/t"}, true, start + "t --from x"},
		"plaintext":          {cases.Request{From: cases.Caller{Name: "plaintext", Plaintext: true}, To: "b/t"}, false, start + "t --from plaintext"},
		"anonymous":          {cases.Request{From: cases.Caller{Name: "anonymous", Anonymous: true}, To: "b/t"}, false, start + "t --from anonymous"},
		"several names":      {cases.Request{From: names([]string{"spiffe://a/b", "kuma://c/d"}, "e.f"), To: "b/t"}, false, start + "t --from spiffe://a/b --from kuma://c/d --from dns:e.f"},
		"no names":           {cases.Request{From: names(nil), To: "b/t"}, false, start + "t"},
		"no SPIFFE ID":       {cases.Request{From: names([]string{"https://a/b"}), To: "b/t"}, false, ""},
		"an expired one":     {cases.Request{From: cases.Caller{Template: certs.Template{URIs: []string{"spiffe://a/b"}, Validity: certs.Expired}}, To: "b/t"}, false, ""},
		"no path":            {cases.Request{From: sound, To: "b/h", Path: "x"}, false, ""},
		"a path of controls": {cases.Request{From: sound, To: "b/h", Path: "/\x1b"}, false, ""},
		"a path of no text":  {cases.Request{From: sound, To: "b/h", Path: "/\xff"}, false, ""},
	} {
		if got := NewCommand("a b.yaml").Line(of, tt.q, tt.named); got != tt.want {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
	}
	if got := NewCommand("-").Line(of, cases.Request{From: sound, To: "b/t"}, false); got != "" {
		t.Errorf("standard input is read again: %s", got)
	}
}

// An inbound is described by flags, unless it has what no flag says.
func TestDescribe(t *testing.T) {
	t.Parallel()
	in := policy.Inbound{Workload: policy.Workload{Name: "w", Labels: map[string]string{"b": "2", "a": "1"}}, Port: 5}
	if words, ok := Describe(in); !ok || words[len(words)-1] != "b=2" || words[len(words)-3] != "a=1" {
		t.Errorf("%q, %t", words, ok)
	}
	for _, tt := range []struct {
		workload policy.Workload
		name     string
		want     string
	}{
		{policy.Workload{Name: "w", Namespace: "default", Mesh: "default"}, "", ""},
		{policy.Workload{Name: "w", Namespace: "shop", Mesh: "prod", Zone: "east", Origin: "zone"}, "api", " --namespace=shop --mesh=prod --zone=east --origin=zone --inbound=api"},
		{policy.Workload{Name: "w", Namespace: "default", Mesh: "default", Zone: "east"}, "", " --zone=east --origin="},
		{policy.Workload{Name: "w", Mesh: "default"}, "", " --namespace="},
	} {
		words, _ := Describe(policy.Inbound{Workload: tt.workload, Name: tt.name, Port: 5})
		if got := strings.Join(words, " "); got != "--workload w --port 5 --protocol http"+tt.want {
			t.Errorf("%+v: %s", tt.workload, got)
		}
	}
	in.Tags = map[string]string{"kuma.io/service": "w"}
	if _, ok := Describe(in); ok {
		t.Error("flags describe tags")
	}
	in.Tags, in.Routes = nil, []policy.InboundRoute{{Name: "r"}}
	if _, ok := Describe(in); ok {
		t.Error("flags describe routes")
	}
}
