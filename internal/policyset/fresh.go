package policyset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
)

// DrawFresh is [Draw] with names, ports and trust domains that were never used before: they
// follow from seed and number too. A compiler that is right only for names it knows, or
// for the usual trust domain, is found out; a compiler that recognizes drawn sets is not.
func DrawFresh(seed, number uint64, of ...Form) cases.Case {
	g := generator{chooser: random(seed, number), fresh: newWords(seed, number)}
	return g.set(fmt.Sprintf("set %d of seed %d", number, seed), of)
}

// words are what the names of a set are replaced by. Names that have a part in common still
// have it.
type words struct {
	// parts has a new part for each letter and each word of the usual names.
	parts   map[string]string
	domains *strings.Replacer
	ports   map[uint16]uint16
}

var (
	// knownWords are the words in the usual names, and knownLetters what the short names
	// consist of. "default" is the name of a mesh and of a namespace that policies may
	// leave out, so it stays.
	knownWords   = []string{"web", "api", "db", "orders", "items", "east", "west", "front", "back", "dev", "prod", "http", "tcp", "grpc"}
	knownLetters = "abcpqxyz"
	wordPattern  = regexp.MustCompile(`[A-Za-z0-9]+`)
)

func newWords(seed, number uint64) *words {
	r := rand.New(rand.NewPCG(number, ^seed))
	word := func(letters int) string {
		b := make([]byte, letters)
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	}
	w := &words{parts: map[string]string{}, ports: map[uint16]uint16{}}
	taken := map[string]bool{}
	unused := func(letters int) string {
		for {
			if text := word(letters); !taken[text] {
				taken[text] = true
				return text
			}
		}
	}
	for _, known := range knownWords {
		w.parts[known] = unused(5)
	}
	for _, letter := range knownLetters {
		w.parts[string(letter)] = unused(3)
	}
	w.domains = strings.NewReplacer(ownDomain.Name(), unused(6)+".example", otherDomain.Name(), unused(6)+".example")
	next := uint16(1024 + r.IntN(50_000))
	for _, in := range ports {
		next += uint16(1 + r.IntN(100))
		w.ports[in.Port] = next
	}
	return w
}

// text replaces the names in a text.
func (w *words) text(s string) string {
	if td := w.domains.Replace(s); td != s {
		before, path, found := strings.Cut(strings.TrimPrefix(td, "spiffe://"), "/")
		if !found {
			return td
		}
		return "spiffe://" + before + "/" + w.text(path)
	}
	return wordPattern.ReplaceAllStringFunc(s, func(word string) string {
		if port, err := strconv.ParseUint(word, 10, 16); err == nil && w.ports[uint16(port)] != 0 {
			return fmt.Sprint(w.ports[uint16(port)])
		}
		if part := w.parts[word]; part != "" {
			return part
		}
		if strings.Trim(word, knownLetters) != "" {
			return word
		}
		var b strings.Builder
		for _, letter := range word {
			b.WriteString(w.parts[string(letter)])
		}
		return b.String()
	})
}

// value replaces the names in a value that was read from JSON. Keys stay.
func (w *words) value(v any) any {
	switch v := v.(type) {
	case string:
		return w.text(v)
	case float64:
		if port := w.ports[uint16(v)]; port != 0 {
			return port
		}
	case []any:
		for i := range v {
			v[i] = w.value(v[i])
		}
	case map[string]any:
		for key := range v {
			// These values are no names.
			if key != "apiVersion" && key != "kind" && key != "type" && key != "method" {
				v[key] = w.value(v[key])
			}
		}
	}
	return v
}

// policies replaces the names in policies.
func (w *words) policies(of []resource) []any {
	var out []any
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("policyset: %v", err))
	}
	return w.value(out).([]any)
}

// names replaces the names in a case, apart from its policies.
func (w *words) names(c *cases.Case) {
	for i, td := range c.TrustDomains {
		c.TrustDomains[i] = spiffeid.RequireTrustDomainFromString(w.text(td.Name()))
	}
	c.Options.TrustDomain = c.TrustDomains[0]
	labels := func(of map[string]string) map[string]string {
		if of == nil {
			return nil
		}
		out := map[string]string{}
		for key, value := range of {
			out[key] = w.text(value)
		}
		return out
	}
	workload := func(of *policy.Workload) {
		for _, field := range []*string{&of.Name, &of.Namespace, &of.Zone} {
			*field = w.text(*field)
		}
		of.Labels = labels(of.Labels)
	}
	for i := range c.Options.Peers {
		peer := &c.Options.Peers[i]
		peer.Identity = spiffeid.RequireFromString(w.text(peer.Identity.String()))
		workload(&peer.Workload)
	}
	for i := range c.Inbounds {
		in := &c.Inbounds[i]
		in.Identity = spiffeid.RequireFromString(w.text(in.Identity.String()))
		in.Name, in.Port = w.text(in.Name), w.ports[in.Port]
		in.Tags = labels(in.Tags)
		workload(&in.Workload)
		for r, route := range in.Routes {
			in.Routes[r] = policy.InboundRoute{Name: w.text(route.Name), When: w.condition(route.When)}
		}
	}
}

// condition replaces the names in the condition of a route.
func (w *words) condition(c policy.Condition) policy.Condition {
	switch c := c.(type) {
	case policy.And:
		out := make(policy.And, len(c))
		for i := range c {
			out[i] = w.condition(c[i])
		}
		return out
	case policy.Is:
		c.Match.Value = w.text(c.Match.Value)
		return c
	default:
		return c
	}
}
