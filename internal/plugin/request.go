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

// The versions of the protocol that this package speaks. A compiler chooses one in its
// greeting. Version 2 tells a route by attributes, and its filters have the filter for tokens.
const (
	Oldest = 1
	Newest = 2
)

// hello is the first line to a compiler. Protocol is the oldest version, because compilers
// from the time of version 1 may compare it with theirs.
type hello struct {
	Protocol  int    `json:"protocol"`
	Protocols []int  `json:"protocols"`
	Meshproof string `json:"meshproof"`
}

func newHello(meshproof string) hello {
	return hello{Protocol: Oldest, Protocols: []int{Oldest, Newest}, Meshproof: meshproof}
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
	// ServiceAccount is a word of version 2.
	ServiceAccount string `json:"serviceAccount,omitempty"`
}

// peer is a workload as a caller.
type peer struct {
	Identity string   `json:"identity"`
	Address  string   `json:"address"`
	Workload workload `json:"workload"`
}

type route struct {
	Name string `json:"name"`
	// Path and Method are the words of version 1 for a route. Both are optional: without them
	// the route takes any.
	Path   *path  `json:"path,omitempty"`
	Method string `json:"method,omitempty"`
	// When are the words of version 2: the route takes what meets all of them.
	When []match `json:"when,omitempty"`
}

// match compares an attribute of a request, in the words of docs/attributes.md.
type match struct {
	Attribute string `json:"attribute"`
	// Key is the name of a header or a parameter; other attributes have none.
	Key     string `json:"key,omitempty"`
	Kind    string `json:"kind"`
	Value   string `json:"value"`
	AnyCase bool   `json:"anyCase,omitempty"`
}

type path struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// UnaskedError says that the compiler was not asked, because its protocol has no words for the
// question. That is no refusal of policies.
type UnaskedError struct{ Err error }

// Error says which part has no words.
func (e *UnaskedError) Error() string {
	return "plugin: the compiler cannot be asked: " + e.Err.Error()
}

// Unwrap returns the error about the part.
func (e *UnaskedError) Unwrap() error { return e.Err }

// Unread returns true. An error with this method is no refusal of policies, and no failure of
// the compiler.
func (e *UnaskedError) Unread() bool { return true }

// newRequest fails with an [*UnaskedError] on options that no dialect has, on a value of a
// policy that JSON does not have, such as .nan, and on a route that the version has no words
// for.
func newRequest(version int, id int64, in policy.Inbound, policies []manifest.Document, opts language.Options) ([]byte, error) {
	r := request{ID: id, Policies: make([]any, len(policies)), Peers: newPeers(version, opts.Peers)}
	var err error
	if r.Inbound, err = newInbound(version, in); err != nil {
		return nil, &UnaskedError{err}
	}
	if r.Options, err = OptionsJSON(opts); err != nil {
		return nil, &UnaskedError{err}
	}
	for i, doc := range policies {
		if err := doc.Decode(&r.Policies[i]); err != nil {
			return nil, &UnaskedError{err}
		}
		if _, err := json.Marshal(r.Policies[i]); err != nil {
			return nil, &UnaskedError{doc.Errorf("", "it has no form in JSON: %v", err)}
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
	at, _ := doc.Lookup(key)
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

func newPeers(version int, of []language.Peer) []peer {
	out := make([]peer, len(of))
	for i, p := range of {
		out[i] = peer{Identity: p.Identity.String(), Address: p.IP.String(), Workload: newWorkload(version, p.Workload)}
	}
	return out
}

func newWorkload(version int, w policy.Workload) workload {
	out := workload{Name: w.Name, Namespace: w.Namespace, Mesh: w.Mesh, Zone: w.Zone, Origin: w.Origin, Labels: w.Labels}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	if version >= 2 {
		out.ServiceAccount = w.ServiceAccount
	}
	return out
}

func newInbound(version int, in policy.Inbound) (inbound, error) {
	out := inbound{
		Name: in.Name, Port: in.Port, Protocol: in.Protocol, Tags: in.Tags, Routes: make([]route, len(in.Routes)),
		Workload: newWorkload(version, in.Workload),
	}
	for i, r := range in.Routes {
		var err error
		if out.Routes[i], err = newRoute(version, r); err != nil {
			return inbound{}, fmt.Errorf("inbound %s, route %s: %w", in, r.Name, err)
		}
	}
	return out, nil
}

// newRoute says which requests a route takes: an And of matches.
func newRoute(version int, r policy.InboundRoute) (route, error) {
	out := route{Name: r.Name}
	for c := range policy.Walk(r.When) {
		is, ok := c.(policy.Is)
		switch _, and := c.(policy.And); {
		case and:
		case !ok:
			return route{}, fmt.Errorf("%q is no list of matches that all have to hold", r.When)
		case version >= 2:
			out.When = append(out.When, newMatch(is))
		case is.Attribute == attribute.Path && is.Match.Kind == policy.Exact && out.Path == nil:
			out.Path = &path{Type: "Exact", Value: is.Match.Value}
		case is.Attribute == attribute.Path && is.Match.Kind == policy.Segments && out.Path == nil:
			out.Path = &path{Type: "Prefix", Value: is.Match.Value}
		case is.Attribute == attribute.Method && is.Match.Kind == policy.Exact && out.Method == "":
			out.Method = is.Match.Value
		default:
			return route{}, fmt.Errorf("version %d of the protocol has no words for %q: the compiler has to greet with version %d", version, is, Newest)
		}
	}
	return out, nil
}

func newMatch(is policy.Is) match {
	out := match{Attribute: is.Attribute.Name, Kind: is.Match.Kind.String(), Value: is.Match.Value, AnyCase: is.Match.AnyCase}
	if is.Attribute.Family != "" {
		out.Attribute, out.Key = is.Attribute.Family, is.Attribute.Key
	}
	return out
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

// Question returns the JSON object of a request about an inbound, without the id, in the
// words of a version. A control plane gets it in another way than over a pipe. The error is an
// [*UnaskedError].
func Question(version int, in policy.Inbound, policies []manifest.Document, opts language.Options) ([]byte, error) {
	line, err := newRequest(version, 0, in, policies, opts)
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
