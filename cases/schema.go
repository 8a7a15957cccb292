package cases

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/manifest"
)

// caseSchema is a case as written.
type caseSchema struct {
	Case          string                       `yaml:"case"`
	Story         string                       `yaml:"story"`
	TrustDomains  []string                     `yaml:"trustDomains"`
	Options       optionsSchema                `yaml:"options"`
	Workloads     []workloadSchema             `yaml:"workloads"`
	Callers       map[string]callerSchema      `yaml:"callers"`
	Policies      []manifest.Document          `yaml:"policies"`
	Requests      []requestSchema              `yaml:"requests"`
	Counters      map[string]map[string]uint64 `yaml:"counters"`
	ExpectError   string                       `yaml:"expectError"`
	ExpectWarning oneOrMore[string]            `yaml:"expectWarning"`
}

type optionsSchema struct {
	ShadowForm        kuma.ShadowForm     `yaml:"shadowForm"`
	SystemNamespace   string              `yaml:"systemNamespace"`
	PathNormalization normalizationSchema `yaml:"pathNormalization"`
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
	MTLS     string          `yaml:"mtls"`
}

type requestSchema struct {
	From      oneOrMore[string] `yaml:"from"`
	To        oneOrMore[string] `yaml:"to"`
	Method    oneOrMore[string] `yaml:"method"`
	Path      oneOrMore[string] `yaml:"path"`
	Authority string            `yaml:"authority"`
	Headers   headers           `yaml:"headers"`
	GRPC      string            `yaml:"grpc"`
	SourceIP  string            `yaml:"sourceIP"`
	Want      *Want             `yaml:"want"`
	By        *string           `yaml:"by"`
	Shadow    *Shadow           `yaml:"shadow"`
	ShadowBy  *string           `yaml:"shadowBy"`
}

// oneOrMore reads a scalar as a list of one.
type oneOrMore[T any] []T

// UnmarshalManifest implements manifest.Unmarshaler.
func (o *oneOrMore[T]) UnmarshalManifest(d manifest.Document) error {
	var one T
	if d.Decode(&one) == nil {
		*o = []T{one}
		return nil
	}
	return d.Decode((*[]T)(o))
}

// headers reads a mapping, whose order does not count, or a list of mappings
// with one entry each, which may repeat a name.
type headers []Header

// UnmarshalManifest implements manifest.Unmarshaler.
func (h *headers) UnmarshalManifest(d manifest.Document) error {
	var lines []map[string]string
	if d.Decode(&lines) != nil {
		var one map[string]string
		if err := d.Decode(&one); err != nil {
			return err
		}
		lines = []map[string]string{one}
	}
	for _, line := range lines {
		for _, name := range sortedKeys(line) {
			*h = append(*h, Header{Name: name, Value: line[name]})
		}
	}
	return nil
}
