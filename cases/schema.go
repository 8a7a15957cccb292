package cases

import (
	"encoding/base64"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// caseSchema is a case in a file.
type caseSchema struct {
	Case          string                       `yaml:"case"`
	Story         string                       `yaml:"story"`
	Features      []feature.Name               `yaml:"features"`
	Envoy         gateSchema                   `yaml:"envoy"`
	Advisory      advisorySchema               `yaml:"advisory"`
	TrustDomains  []string                     `yaml:"trustDomains"`
	Options       optionsSchema                `yaml:"options"`
	Workloads     orFiles[workloadItem]        `yaml:"workloads"`
	Callers       map[string]manifest.Document `yaml:"callers"`
	Tokens        map[string]manifest.Document `yaml:"tokens"`
	Policies      orFiles[manifest.Document]   `yaml:"policies"`
	Outbounds     orFiles[manifest.Document]   `yaml:"outbounds"`
	Requests      []requestItem                `yaml:"requests"`
	Counters      map[string]manifest.Document `yaml:"counters"`
	ExpectError   string                       `yaml:"expectError"`
	ExpectWarning oneOrMore                    `yaml:"expectWarning"`
}

// orFiles reads a list, or a mapping with the files that have its items.
type orFiles[T any] struct {
	list []T
	// files are patterns. The file paths begin at the folder of the case file.
	files oneOrMore
}

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (o *orFiles[T]) UnmarshalManifest(d manifest.Document) error {
	if len(d.Keys()) == 0 {
		var name string
		if d.Decode(&name) == nil && name != "" {
			return d.Errorf("", "expected a list, found the text %q: write {files: [%s]} if it names a file", name, name)
		}
		return d.Decode(&o.list)
	}
	var schema struct {
		Files oneOrMore `yaml:"files"`
	}
	if err := d.Decode(&schema); err != nil {
		return err
	}
	if len(schema.Files) == 0 {
		return d.Errorf("files", "no file is named: write files: [policies], or a list instead of the mapping")
	}
	o.files = schema.Files
	return nil
}

// optionsSchema is the mapping under options: settings of the listener, and a document
// for the dialects.
type optionsSchema struct {
	normalization normalizationSchema
	dialects      manifest.Document
}

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (s *optionsSchema) UnmarshalManifest(d manifest.Document) error {
	var listener struct {
		Normalization normalizationSchema `yaml:"pathNormalization"`
	}
	if _, err := dialects.CheckOptions(d, &listener); err != nil {
		return err
	}
	*s = optionsSchema{listener.Normalization, d.WithoutKey("pathNormalization")}
	return nil
}

type normalizationSchema struct {
	NormalizePath  *bool                 `yaml:"normalizePath"`
	MergeSlashes   *bool                 `yaml:"mergeSlashes"`
	EscapedSlashes policy.EscapedSlashes `yaml:"escapedSlashes"`
}

func (s normalizationSchema) normalization() policy.PathNormalization {
	off := func(b *bool) bool { return b != nil && !*b }
	return policy.PathNormalization{
		Raw:            off(s.NormalizePath),
		KeepSlashes:    off(s.MergeSlashes),
		EscapedSlashes: s.EscapedSlashes,
	}
}

// workloadItem is a workload in the format of cases, or a Dataplane as a user writes it.
type workloadItem struct {
	workloadSchema
	// dataplane is nil for a workload in the format of cases.
	dataplane *manifest.Document
}

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (w *workloadItem) UnmarshalManifest(d manifest.Document) error {
	if dataplane.Owns(d) {
		d = d.Applied()
		w.dataplane = &d
		return nil
	}
	return d.Decode(&w.workloadSchema)
}

type workloadSchema struct {
	Name           string            `yaml:"name"`
	Namespace      string            `yaml:"namespace"`
	ServiceAccount string            `yaml:"serviceAccount"`
	Identity       string            `yaml:"identity"`
	Mesh           string            `yaml:"mesh"`
	Zone           string            `yaml:"zone"`
	Origin         string            `yaml:"origin"`
	Labels         map[string]string `yaml:"labels"`
	IP             string            `yaml:"ip"`
	Inbounds       []inboundSchema   `yaml:"inbounds"`
}

type inboundSchema struct {
	Name     string          `yaml:"name"`
	Port     uint16          `yaml:"port"`
	Protocol policy.Protocol `yaml:"protocol"`
	MTLS     mtls.Mode       `yaml:"mtls"`
	// XFFTrustedHops is the number of entries of x-forwarded-for that the listener trusts.
	XFFTrustedHops int `yaml:"xffTrustedHops"`
	// Tags are those of the inbound. Legacy policies select by them. The label of the
	// workload stands in for a tag that is missing.
	Tags   map[string]string `yaml:"tags"`
	Routes []routeSchema     `yaml:"routes"`
	// Answer is what the inbound does with every connection of a sidecar.
	Answer reachSchema `yaml:"answer"`
}

// routeSchema is an entry under routes of an inbound.
type routeSchema struct {
	Name   string           `yaml:"name"`
	Path   *routePathSchema `yaml:"path"`
	Method string           `yaml:"method"`
}

type routePathSchema struct {
	Type  string `yaml:"type"`
	Value string `yaml:"value"`
}

// lineSchema is what a request to an inbound and one through a sidecar have alike.
type lineSchema struct {
	From      oneOrMore `yaml:"from"`
	To        oneOrMore `yaml:"to"`
	Method    oneOrMore `yaml:"method"`
	Path      paths     `yaml:"path"`
	Authority string    `yaml:"authority"`
	Headers   headers   `yaml:"headers"`
	GRPC      string    `yaml:"grpc"`
}

type requestSchema struct {
	lineSchema
	SNI      oneOrMore     `yaml:"sni"`
	Token    oneOrMore     `yaml:"token"`
	SourceIP string        `yaml:"sourceIP"`
	Want     *wantSchema   `yaml:"want"`
	By       *string       `yaml:"by"`
	Shadow   *shadowSchema `yaml:"shadow"`
	ShadowBy *string       `yaml:"shadowBy"`
}

// callerSchema is an entry under callers.
type callerSchema struct {
	URIs             []string `yaml:"uris"`
	DNS              []string `yaml:"dns"`
	SignedBy         string   `yaml:"signedBy"`
	Expired          bool     `yaml:"expired"`
	NotYetValid      bool     `yaml:"notYetValid"`
	WrongExtKeyUsage bool     `yaml:"wrongExtKeyUsage"`
	CACertificate    bool     `yaml:"caCertificate"`
	SourceIP         string   `yaml:"sourceIP"`
	// Service, tags and mesh make the URI SANs of a certificate of Kuma's first design.
	Service string            `yaml:"service"`
	Tags    map[string]string `yaml:"tags"`
	Mesh    string            `yaml:"mesh"`
}

// oneOrMore reads a scalar as a list of one. An empty list stays empty, and an absent
// list is nil.
type oneOrMore []string

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (o *oneOrMore) UnmarshalManifest(d manifest.Document) error {
	if _, isList := items(d); isList {
		return d.Decode((*[]string)(o))
	}
	var one string
	if err := d.Decode(&one); err != nil {
		return err
	}
	*o = oneOrMore{one}
	return nil
}

// headers reads a mapping, which is sorted by name, or a list of mappings with one entry
// each, which may repeat a name.
type headers []policy.Header

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (h *headers) UnmarshalManifest(d manifest.Document) error {
	lines, isList := items(d)
	if !isList {
		lines = []manifest.Document{d}
	}
	for _, line := range lines {
		var values map[string]bytesText
		if err := line.Decode(&values); err != nil {
			return err
		}
		if isList && len(values) != 1 {
			return line.Errorf("", "an item is one header, as in {x-name: value}")
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			*h = append(*h, policy.Header{Name: name, Value: string(values[name])})
		}
	}
	return nil
}

// paths reads a path or a list of paths.
type paths []string

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (p *paths) UnmarshalManifest(d manifest.Document) error {
	all, isList := items(d)
	if !isList {
		all = []manifest.Document{d}
	} else if *p = (paths{}); len(all) == 0 {
		return nil
	}
	for _, one := range all {
		var path bytesText
		if err := one.Decode(&path); err != nil {
			return err
		}
		*p = append(*p, string(path))
	}
	return nil
}

// bytesText reads a text, or {base64: TEXT} for bytes that are no UTF-8.
type bytesText string

// UnmarshalManifest implements [manifest.Unmarshaler].
func (v *bytesText) UnmarshalManifest(d manifest.Document) error {
	var text string
	noText := d.Decode(&text)
	if noText == nil {
		*v = bytesText(text)
		return nil
	}
	var encoded struct {
		Base64 string `yaml:"base64"`
	}
	if d.Decode(&encoded) != nil {
		return noText
	}
	bytes, err := base64.StdEncoding.DecodeString(encoded.Base64)
	if err != nil {
		return d.Errorf("base64", "%q is no base64: %v", encoded.Base64, err)
	}
	*v = bytesText(bytes)
	return nil
}

// items returns the items of a list, and whether the document is one.
func items(d manifest.Document) ([]manifest.Document, bool) {
	var list []manifest.Document
	err := d.Decode(&list)
	return list, err == nil
}
