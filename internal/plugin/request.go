package plugin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// protocol is the version of the protocol that this package speaks.
const protocol = 1

// hello is the first line to a compiler.
type hello struct {
	Protocol  int    `json:"protocol"`
	Meshproof string `json:"meshproof"`
}

// request asks for the filters of one inbound. All fields are present, except the
// fields that are documented as optional.
type request struct {
	ID       int64   `json:"id"`
	Inbound  inbound `json:"inbound"`
	Policies []any   `json:"policies"`
	// Options are those of a case file with the defaults filled in, trustDomain, and what
	// stands under the keys of other dialects, as it was written.
	Options json.RawMessage `json:"options"`
	// Peers are the workloads of the case, which callers may be.
	Peers []peer `json:"peers"`
}

// inbound is a [policy.Inbound] in the words of a case file.
type inbound struct {
	Name     string          `json:"name"`
	Port     uint16          `json:"port"`
	Protocol policy.Protocol `json:"protocol"`
	Workload workload        `json:"workload"`
	// Tags are optional: without them the labels of the workload count.
	Tags   map[string]string `json:"tags,omitzero"`
	Routes []route           `json:"routes"`
}

type workload struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Mesh      string            `json:"mesh"`
	Zone      string            `json:"zone"`
	Origin    string            `json:"origin"`
	Labels    map[string]string `json:"labels"`
}

// peer is a workload as a caller.
type peer struct {
	Identity string   `json:"identity"`
	Address  string   `json:"address"`
	Workload workload `json:"workload"`
}

type route struct {
	Name string `json:"name"`
	// Path and Method are optional: without them the route takes any.
	Path   *path  `json:"path,omitempty"`
	Method string `json:"method,omitempty"`
}

type path struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// newRequest fails on options that no dialect has, and on a value of a policy that
// JSON does not have, such as .nan.
func newRequest(id int64, in policy.Inbound, policies []manifest.Document, opts language.Options) ([]byte, error) {
	options, err := OptionsJSON(opts)
	if err != nil {
		return nil, err
	}
	r := request{ID: id, Inbound: newInbound(in), Policies: make([]any, len(policies)), Options: options, Peers: newPeers(opts.Peers)}
	for i, doc := range policies {
		if err := doc.Decode(&r.Policies[i]); err != nil {
			return nil, err
		}
		if _, err := json.Marshal(r.Policies[i]); err != nil {
			return nil, doc.Errorf("", "cannot be handed to a compiler as JSON: %v", err)
		}
	}
	return encodeLine(r)
}

const defaultTrustDomain = "trust-domain.mesh"

// OptionsJSON returns all options of all dialects as one JSON object with the
// defaults filled in, and the trust domain among them: what a foreign compiler is
// told. Its errors are those of [dialects.CheckOptions].
func OptionsJSON(opts language.Options) (json.RawMessage, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, d := range dialects.Having[language.Dialect]() {
		own := d.NewOptions()
		if err := opts.Document.DecodeKnown(own); err != nil {
			return nil, err
		}
		text, err := json.Marshal(own)
		if err != nil {
			return nil, err
		}
		if inner := bytes.Trim(text, "{}"); len(inner) > 0 {
			out.Write(text[1 : len(text)-1])
			out.WriteByte(',')
		}
	}
	foreign, err := dialects.CheckOptions(opts.Document)
	if err != nil {
		return nil, err
	}
	for _, key := range foreign {
		if err := writeForeign(&out, opts.Document, key); err != nil {
			return nil, err
		}
	}
	trustDomain, err := json.Marshal(cmp.Or(opts.TrustDomain.Name(), defaultTrustDomain))
	if err != nil {
		return nil, err
	}
	out.WriteString(`"trustDomain":`)
	out.Write(trustDomain)
	out.WriteByte('}')
	return out.Bytes(), nil
}

// writeForeign writes what stands under the key of a dialect that is not in the list.
func writeForeign(out *bytes.Buffer, doc manifest.Document, key string) error {
	at, _ := doc.At(key)
	var value any
	if err := at.Decode(&value); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{key: value})
	if err != nil {
		return at.Errorf("", "cannot be handed to a compiler as JSON: %v", err)
	}
	out.Write(text[1 : len(text)-1])
	out.WriteByte(',')
	return nil
}

func newPeers(of []language.Peer) []peer {
	out := make([]peer, len(of))
	for i, p := range of {
		out[i] = peer{Identity: p.Identity.String(), Address: p.IP.String(), Workload: newWorkload(p.Workload)}
	}
	return out
}

func newWorkload(w policy.Workload) workload {
	out := workload{Name: w.Name, Namespace: w.Namespace, Mesh: w.Mesh, Zone: w.Zone, Origin: w.Origin, Labels: w.Labels}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	return out
}

func newInbound(in policy.Inbound) inbound {
	out := inbound{
		Name: in.Name, Port: in.Port, Protocol: in.Protocol, Tags: in.Tags, Routes: make([]route, len(in.Routes)),
		Workload: newWorkload(in.Workload),
	}
	for i, r := range in.Routes {
		out.Routes[i].Name = r.Name
		out.Routes[i].setMatch(r.When)
	}
	return out
}

// setMatch sets the path and the method of a route. The condition of a route is an And
// of paths and methods.
func (r *route) setMatch(c policy.Condition) {
	for c := range policy.Walk(c) {
		is, _ := c.(policy.Is)
		switch is.Attribute {
		case attribute.Path:
			r.Path = &path{Type: "Exact", Value: is.Match.Value}
			if is.Match.Kind == policy.Segments {
				r.Path.Type = "Prefix"
			}
		case attribute.Method:
			r.Method = is.Match.Value
		}
	}
}

// encodeLine returns a message as JSON with a line end.
func encodeLine(message any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(message)
	return b.Bytes(), err
}

// nameRequest names a request in an error: the inbound, and the place of its first policy.
func nameRequest(in policy.Inbound, policies []manifest.Document) string {
	if len(policies) == 0 {
		return in.String()
	}
	return fmt.Sprintf("%s under %s", in, policies[0].Place(""))
}

// Question returns the JSON object of a request about an inbound, without the id. A
// control plane gets it in another way than over a pipe. The error reports a policy that
// has no JSON form.
func Question(in policy.Inbound, policies []manifest.Document, opts language.Options) ([]byte, error) {
	line, err := newRequest(0, in, policies, opts)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, err
	}
	delete(fields, "id")
	return json.Marshal(fields)
}
