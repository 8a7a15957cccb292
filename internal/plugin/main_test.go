package plugin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/authorizerfilter"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// TestMain runs a compiler in this binary when the first argument names one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if name, ok := strings.CutPrefix(os.Args[1], helperPrefix); ok {
			helpers[name](os.Stdin, os.Stdout, os.Args[2:])
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}

const (
	helperPrefix = "compiler:"
	sound        = `{"protocol": 1, "name": "helper", "version": "v1"}`
)

// helper returns the command line of a compiler below.
func helper(name string, args ...string) []string {
	return append([]string{os.Args[0], helperPrefix + name}, args...)
}

// helpers are compilers. Most of them are broken.
var helpers map[string]func(in io.Reader, out io.Writer, args []string)

func init() {
	helpers = map[string]func(in io.Reader, out io.Writer, args []string){
		"reference": reference,
		// Writes its argument once, and reads its input to the end.
		"say": func(in io.Reader, out io.Writer, args []string) {
			fmt.Fprintln(out, args[0])
			_, _ = io.Copy(io.Discard, in)
		},
		// Answers with the field "answer" of the first policy. ID stands for the id of the request.
		// The first argument is the version that it speaks.
		"parrot": func(in io.Reader, out io.Writer, args []string) {
			greeting := sound
			if len(args) > 0 {
				greeting = strings.Replace(sound, "1", args[0], 1)
			}
			eachAfter(greeting, in, out, func(id string, ask []byte) {
				var r struct{ Policies []struct{ Answer string } }
				if err := json.Unmarshal(ask, &r); err != nil {
					panic(err)
				}
				fmt.Fprintln(out, strings.ReplaceAll(r.Policies[0].Answer, "ID", id))
			})
		},
		// Answers four requests in the opposite order.
		"backwards": func(in io.Reader, out io.Writer, _ []string) {
			var ids []string
			each(in, out, func(id string, _ []byte) {
				if ids = append(ids, id); len(ids) == 4 {
					slices.Reverse(ids)
					for _, id := range ids {
						fmt.Fprintf(out, "{\"id\": %s, \"error\": \"refused %s\"}\n", id, id)
					}
				}
			})
		},
		// Ends at the first request, after some lines on standard error.
		"crash": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(string, []byte) {
				for i := range 2 * tailLines {
					fmt.Fprintf(os.Stderr, "line %d\n", i)
				}
				fmt.Fprint(os.Stderr, "last \x1b[31mwords\xff")
				os.Exit(3)
			})
		},
		// Writes a line without an end.
		"flood": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(string, []byte) {
				line := bytes.Repeat([]byte(" "), 1<<20)
				for {
					if _, err := out.Write(line); err != nil {
						return
					}
				}
			})
		},
		// Writes much to standard error, and answers.
		"noise": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(id string, _ []byte) {
				for range 20 {
					_, _ = os.Stderr.Write(bytes.Repeat([]byte("no line "), 1<<17))
				}
				fmt.Fprintf(out, "{\"id\": %s, \"filters\": {}}\n", id)
			})
		},
		// Greets and then hangs, with its output open or closed, and reads nothing more. Its
		// child hangs too. Both hold a connection open.
		"hang": func(in io.Reader, out io.Writer, args []string) {
			wait := hold(args[0])
			child := exec.Command(os.Args[0], helperPrefix+"hold", args[0])
			said, err := child.StdoutPipe()
			if err == nil {
				err = child.Start()
			}
			if err != nil {
				panic(err)
			}
			// Closed output ends both at once: the child has to hold its connection before.
			_, _ = said.Read(make([]byte, 1))
			_, _ = bufio.NewReader(in).ReadSlice('\n')
			fmt.Fprintln(out, sound)
			if len(args) > 1 {
				os.Stdout.Close()
			}
			wait()
		},
		// Answers a request when the connection that it holds is closed.
		"late": func(in io.Reader, out io.Writer, args []string) {
			each(in, out, func(id string, _ []byte) {
				hold(args[0])()
				fmt.Fprintf(out, "{\"id\": %s, \"error\": \"refused %s\"}\n", id, id)
			})
		},
		"hold": func(_ io.Reader, out io.Writer, args []string) {
			wait := hold(args[0])
			fmt.Fprintln(out, "held")
			wait()
		},
	}
}

// each greets with version 1, and calls do for each request.
func each(in io.Reader, out io.Writer, do func(id string, ask []byte)) { eachAfter(sound, in, out, do) }

func eachAfter(greeting string, in io.Reader, out io.Writer, do func(id string, ask []byte)) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r struct{ ID int64 }
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		if r.ID == 0 {
			fmt.Fprintln(out, greeting)
			continue
		}
		do(fmt.Sprint(r.ID), line)
	}
}

// hold connects, and returns a function that waits until the other side closes.
func hold(address string) func() {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	return func() { _, _ = io.Copy(io.Discard, conn) }
}

// reference is meshproof's own compiler behind the protocol, in the version of the first
// argument. It knows a request from its line only.
func reference(in io.Reader, out io.Writer, args []string) {
	greeting := strings.Replace(sound, "1", args[0], 1)
	eachAfter(greeting, in, out, func(id string, ask []byte) {
		filters, err := compileLine(ask)
		if err != nil {
			text, _ := json.Marshal(err.Error())
			fmt.Fprintf(out, "{\"id\": %s, \"error\": %s}\n", id, text)
			return
		}
		fmt.Fprintf(out, "{\"id\": %s, \"filters\": %s}\n", id, filters)
	})
}

func compileLine(ask []byte) ([]byte, error) {
	var r struct {
		Inbound  inbound
		Policies []json.RawMessage
		Options  map[string]json.RawMessage
		Peers    []peer
	}
	if err := json.Unmarshal(ask, &r); err != nil {
		return nil, err
	}
	var docs []manifest.Document
	for _, raw := range r.Policies {
		// JSON is YAML.
		read, err := manifest.Parse("policies.json", raw)
		if err != nil {
			return nil, err
		}
		docs = append(docs, read...)
	}
	opts := language.Options{}
	var trustDomain string
	if err := json.Unmarshal(r.Options["trustDomain"], &trustDomain); err != nil {
		return nil, err
	}
	opts.TrustDomain = spiffeid.RequireTrustDomainFromString(trustDomain)
	delete(r.Options, "trustDomain")
	text, err := json.Marshal(r.Options)
	if err != nil {
		return nil, err
	}
	read, err := manifest.Parse("options.json", text)
	if err != nil {
		return nil, err
	}
	opts.Document = read[0]
	for _, p := range r.Peers {
		opts.Peers = append(opts.Peers, language.Peer{Workload: p.Workload.policy(), Identity: spiffeid.RequireFromString(p.Identity), IP: netip.MustParseAddr(p.Address)})
	}
	filters, err := suite.CompileOne(context.Background(), suite.Reference, r.Inbound.policy(), docs, opts)
	if err != nil {
		return nil, err
	}
	return filtersJSON(filters)
}

func (w workload) policy() policy.Workload {
	return policy.Workload{Name: w.Name, Namespace: w.Namespace, Mesh: w.Mesh, Zone: w.Zone, Origin: w.Origin, Labels: w.Labels, ServiceAccount: w.ServiceAccount}
}

func (i inbound) policy() policy.Inbound {
	out := policy.Inbound{
		Name: i.Name, Port: i.Port, Protocol: i.Protocol, Tags: i.Tags,
		Workload: i.Workload.policy(),
	}
	for _, r := range i.Routes {
		var when policy.And
		if r.Path != nil {
			p := attribute.Path.Exact(r.Path.Value)
			if r.Path.Type == "Prefix" {
				p.Match.Kind = policy.Segments
			}
			when = append(when, p)
		}
		if r.Method != "" {
			when = append(when, attribute.Method.Exact(r.Method))
		}
		for _, m := range r.When {
			when = append(when, m.policy())
		}
		out.Routes = append(out.Routes, policy.InboundRoute{Name: r.Name, When: when})
	}
	return out
}

func (m match) policy() policy.Is {
	families := map[string]func(string) *policy.Attribute{"header": attribute.Header, "query-parameter": attribute.QueryParameter}
	var of *policy.Attribute
	if family, ok := families[m.Attribute]; ok {
		of = family(m.Key)
	} else {
		for _, a := range attribute.All() {
			if a.Name == m.Attribute {
				of = a
			}
		}
	}
	for kind := policy.Exact; ; kind++ {
		if kind.String() == m.Kind {
			return policy.Is{Attribute: of, Match: policy.Match{Kind: kind, Value: m.Value, AnyCase: m.AnyCase}}
		}
	}
}

func filtersJSON(f xds.Filters) ([]byte, error) {
	type named struct {
		Name  string            `json:"name"`
		Match json.RawMessage   `json:"match,omitempty"`
		RBAC  []json.RawMessage `json:"rbac"`
	}
	var out struct {
		Network []json.RawMessage `json:"network,omitempty"`
		HTTP    []json.RawMessage `json:"http,omitempty"`
		Routes  []named           `json:"routes,omitempty"`
		Only    bool              `json:"routesOnly,omitempty"`
	}
	var failed error
	marshal := func(m proto.Message) json.RawMessage {
		raw, err := protojson.Marshal(m)
		if err != nil {
			failed = err
		}
		return raw
	}
	service := func(a authorizer.Authorizer) *corev3.GrpcService {
		return &corev3.GrpcService{
			TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: a.Cluster, Authority: a.Authority}},
			Timeout:         durationpb.New(a.Timeout),
		}
	}
	for i, filter := range f.Network {
		out.Network = append(out.Network, marshal(filter))
		if a, ok := f.NetworkAsks[i]; ok {
			a.Unreachable = false // no filter says that
			out.Network = append(out.Network, marshal(messages.MustPack(authorizerfilter.Network(a, filter.ShadowRulesStatPrefix, "stat", service(a)))))
		}
	}
	for i, filter := range f.HTTP {
		out.HTTP = append(out.HTTP, marshal(filter))
		if a, ok := f.HTTPAsks[i]; ok {
			a.Unreachable = false
			out.HTTP = append(out.HTTP, marshal(messages.MustPack(authorizerfilter.HTTP(a, filter.ShadowRulesStatPrefix, service(a)))))
		}
	}
	for _, r := range f.Routes {
		of := named{Name: r.Name, RBAC: []json.RawMessage{}}
		if f.RoutesOnly {
			of.Match = marshal(r.Match)
		}
		for _, filter := range r.HTTP {
			of.RBAC = append(of.RBAC, marshal(filter))
		}
		out.Routes = append(out.Routes, of)
	}
	if failed != nil {
		return nil, failed
	}
	out.Only = f.RoutesOnly
	return json.Marshal(out)
}
